// ptxspec.element(name, attributes, ...children): an element of the page. Children are elements or texts, never HTML;
// an attribute that is null or false is left out.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});

  ptxspec.element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) {
        made.setAttribute(key, value === true ? "" : value);
      }
    }
    made.append(...children.filter(child => child !== null));
    return made;
  };
})();
