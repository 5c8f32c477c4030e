// A text field with a list of its options, which typing narrows: ARIA's combobox.
//   ptxspec.combobox({input, list, button, options, exactly, choose, refuse}) -> {set(option)}
// `options()` returns [{text, note}], and `exactly(text)` the option that a text means, or null. `choose(option)` is called
// with the chosen option, and `refuse(text)` with any other text, when the field is left or Enter is pressed.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // Each word begins a different part of the text, in any order: `ftz rn` finds fma.rn.ftz.f32, f16 does not find bf16.
  function has(text, words) {
    const parts = text.toLowerCase().split(".");
    return words.every(word => {
      const exact = parts.indexOf(word);
      const place = exact < 0 ? parts.findIndex(part => part.startsWith(word)) : exact;
      return place >= 0 && parts.splice(place, 1).length;
    });
  }

  // Options that begin with the typed text come first.
  function narrowed(options, typed) {
    const text = typed.trim().toLowerCase();
    const words = text.split(/[\s.]+/).filter(Boolean);
    const found = options.filter(option => has(option.text, words));
    const begins = option => option.text.toLowerCase().startsWith(text);
    return [...found.filter(begins), ...found.filter(option => !begins(option))];
  }

  ptxspec.combobox = ({input, list, button, options, exactly, choose, refuse}) => {
    let current = {text: input.value}; // The option that was chosen last.
    let refused = null; // The text that was last refused, which is not refused again.
    let shown = []; // The options in the list.
    let active = -1;
    let moved = false; // By an arrow key, so that the marked option is meant.
    const isOpen = () => !list.hidden;

    function mark(place) {
      list.children[active]?.setAttribute("aria-selected", "false");
      active = place;
      const item = list.children[active];
      item?.setAttribute("aria-selected", "true");
      item?.scrollIntoView({block: "nearest"});
      if (item) {
        input.setAttribute("aria-activedescendant", item.id);
      } else {
        input.removeAttribute("aria-activedescendant");
      }
    }

    function close() {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      mark(-1);
    }

    function open(typed) {
      shown = narrowed(options(), typed);
      list.replaceChildren(...shown.map((option, i) =>
        element("li", {id: `${list.id}-${i}`, role: "option", "aria-selected": "false"},
          element("code", {}, option.text), option.note ? element("span", {class: "muted"}, ` ${option.note}`) : null)));
      if (!shown.length) {
        list.append(element("li", {role: "option", "aria-disabled": "true", class: "muted"}, "no match"));
      }
      list.hidden = false;
      list.scrollIntoView({block: "nearest"});
      input.setAttribute("aria-expanded", "true");
      active = -1;
      moved = false;
      const isCurrent = ({text, note}) => text === current.text && note === current.note;
      mark(typed ? (shown.length ? 0 : -1) : shown.findIndex(isCurrent));
    }

    function set(option) {
      close();
      refused = null;
      current = option;
      input.value = option.text;
    }

    function take(option) {
      set(option);
      choose(option);
    }

    function settle() {
      const text = input.value.trim();
      if (isOpen()) {
        close();
      }
      const option = text === current.text ? current : exactly(text);
      if (option) {
        take(option);
      } else {
        refused = input.value;
        refuse(text);
      }
    }

    const moves = {
      ArrowDown: () => Math.min(active + 1, shown.length - 1),
      ArrowUp: () => Math.max(active - 1, 0),
      PageDown: () => Math.min(active + 8, shown.length - 1),
      PageUp: () => Math.max(active - 8, 0),
    };

    input.addEventListener("input", () => open(input.value));
    input.addEventListener("keydown", event => {
      if (event.key in moves) {
        event.preventDefault();
        if (isOpen()) {
          mark(moves[event.key]());
          moved = true;
        } else {
          open("");
        }
      } else if (event.key === "Enter") {
        event.preventDefault();
        // A text that is an option means that option, even if others begin with it.
        const marked = moved || !exactly(input.value.trim());
        if (isOpen() && active >= 0 && marked) {
          take(shown[active]);
        } else {
          settle();
        }
      } else if (event.key === "Escape" && (isOpen() || input.value !== current.text)) {
        event.preventDefault();
        const wasRefused = refused !== null;
        set(current);
        if (wasRefused) {
          choose(current);
        }
      }
    });
    input.addEventListener("blur", () => {
      if (input.value !== refused && (input.value !== current.text || refused !== null)) {
        settle();
      } else {
        close();
      }
    });
    // The focus stays in the field, so that its blur means that the user has left it.
    const keep = event => event.preventDefault();
    list.addEventListener("mousedown", keep);
    list.addEventListener("click", event => {
      const place = Array.prototype.indexOf.call(list.children, event.target.closest("li"));
      if (shown[place]) {
        take(shown[place]);
      }
    });
    button.addEventListener("mousedown", keep);
    button.addEventListener("click", () => {
      input.focus();
      if (isOpen()) {
        close();
      } else {
        open("");
      }
    });
    input.addEventListener("click", () => isOpen() || open(""));

    return {set};
  };
})();
