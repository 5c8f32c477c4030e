// A page whose address has a state is drawn once its script has applied it: nothing jumps. This runs in the head; the
// page's script takes the class away.
if (location.hash.includes("=")) {
  document.documentElement.classList.add("waiting");
}
