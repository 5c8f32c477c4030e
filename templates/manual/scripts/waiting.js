// A page whose address has a state is drawn when its script has applied that: nothing jumps. It runs in the head; the
// page's script takes the class away.
if (location.hash.includes("=")) {
  document.documentElement.classList.add("waiting");
}
