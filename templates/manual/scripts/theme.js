// Light, dark, or as the system has it; it runs before anything is drawn, so that no page flashes.
(() => {
  "use strict";
  const themes = ["system", "light", "dark"];

  function stored() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // A browser may refuse pages from disk a store.
    }
  }

  function show(theme) {
    if (theme === "system") {
      delete document.documentElement.dataset.theme;
    } else {
      document.documentElement.dataset.theme = theme;
    }
  }

  let theme = themes.includes(stored()) ? stored() : "system";
  show(theme);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => {
      button.textContent = theme[0].toUpperCase() + theme.slice(1);
      button.setAttribute("aria-label", `Theme: ${theme}`);
    };
    button.hidden = false;
    name();
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      show(theme);
      name();
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Then it holds for this page alone.
      }
    });
  });
})();
