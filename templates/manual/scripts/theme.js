// The theme: light, dark, or that of the system. It runs before anything is drawn, so that no page flashes.
(() => {
  "use strict";
  const themes = ["system", "light", "dark"];

  function stored() {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // A browser may deny storage to pages from disk.
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
    const signs = {system: "\u25d0", light: "\u2600\ufe0e", dark: "\u263e\ufe0e"};
    const name = () => {
      button.textContent = signs[theme];
      button.title = `Theme: ${theme}`;
      button.setAttribute("aria-label", button.title);
    };
    button.hidden = false;
    name();
    // A link to something that is folded opens it.
    const arrive = () => {
      const folded = document.getElementById(location.hash.slice(1))?.closest("details");
      if (folded && !folded.open) {
        folded.open = true;
        folded.scrollIntoView({behavior: "instant"});
      }
    };
    arrive();
    addEventListener("hashchange", () => {
      arrive();
      document.querySelectorAll(":popover-open").forEach(list => list.hidePopover());
    });
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      show(theme);
      name();
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // Then the choice applies to this page only.
      }
    });
  });
})();
