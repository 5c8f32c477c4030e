// The search box of every page. `/` focuses it, typing shows results at once, arrows choose one, Enter opens it, and
// Escape closes the list. The other files named search.*.js compute the results. They are loaded when the page is idle,
// or when the box is first used. Adds to `ptxspec.search`
//   load()  loads them once, and returns a promise
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const files = ["data", "words", "places", "decision", "variants", "meaning", "missing", "verdicts", "others", "entries", "engine"];
  const byId = id => document.getElementById(id);
  const root = byId("search"), opener = byId("search-open"), closer = byId("search-close");
  const input = byId("search-words"), list = byId("search-results"), count = byId("search-count");
  const words = {yes: "Yes", no: "No", some: "Some", outside: "Outside", recipe: "Recipe"};
  let results = [], chosen = -1, before = null, announcing = 0;

  let loading = null;
  search.load = () => loading ??= Promise.all(files.map(name => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `search.${name}.js`;
    script.async = false; // In this order.
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error(`${script.src} cannot be read`)));
    document.head.append(script);
  })));

  function element(name, kind, text) {
    const made = document.createElement(name);
    made.className = kind;
    made.textContent = text;
    return made;
  }

  function option(result, i) {
    const {kind, answer, title, text, hazard} = result, made = element("li", "", "");
    made.id = `search-result-${i}`;
    made.setAttribute("role", "option");
    const label = words[answer] ?? words[kind] ?? kind[0].toUpperCase() + kind.slice(1);
    made.append(element("span", `kind ${hazard ? "risky" : answer}`, hazard && answer ? `${label}, hazard` : label));
    made.append(" ", element("span", "title", title));
    if (text) {
      made.append(" ", element("span", hazard ? "text risky" : "text", text));
    }
    made.addEventListener("click", event => go(i, event.ctrlKey || event.metaKey));
    made.addEventListener("auxclick", event => event.button === 1 && go(i, true));
    return made;
  }

  function choose(i) {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = i;
    const row = results.length ? list.children[chosen] : null;
    if (row) {
      row.setAttribute("aria-selected", "true");
      row.scrollIntoView({block: "nearest", behavior: "instant"});
      input.setAttribute("aria-activedescendant", row.id);
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function go(i, elsewhere) {
    const {link} = results[i];
    if (elsewhere) {
      window.open(link);
      return;
    }
    close();
    leave(false);
    location.href = link;
  }

  // A screen reader announces the number of results when typing pauses, not at every letter.
  function announce(text) {
    clearTimeout(announcing);
    announcing = setTimeout(() => { count.textContent = text; }, 400);
  }

  function answer() {
    if (!input.value.trim() || !search.ask) {
      close();
      return;
    }
    results = search.ask(input.value);
    chosen = -1;
    list.replaceChildren(...results.map(option));
    if (!results.length) {
      const nothing = element("li", "nothing", `No results for \u201c${input.value.trim()}\u201d.`);
      nothing.setAttribute("role", "option");
      nothing.setAttribute("aria-disabled", "true");
      list.append(nothing);
    }
    list.hidden = false;
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", "true");
    choose(results.length ? 0 : -1);
    announce(`${results.length || "No"} result${results.length === 1 ? "" : "s"}`);
  }

  function close() {
    clearTimeout(announcing);
    list.hidden = true;
    count.textContent = "";
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function enter() {
    before = root.contains(document.activeElement) ? before : document.activeElement;
    root.dataset.open = "";
    opener.setAttribute("aria-expanded", "true");
    input.focus();
    input.select();
  }

  function leave(back) {
    const small = getComputedStyle(opener).display !== "none";
    delete root.dataset.open;
    opener.setAttribute("aria-expanded", "false");
    if (!back) {
      input.blur();
    } else if (small) {
      opener.focus();
    } else if (before && before !== document.body && before.isConnected) {
      before.focus();
    } else {
      input.blur();
    }
    before = null;
  }

  function begin() {
    search.load().then(answer, error => {
      list.replaceChildren(element("li", "nothing", error.message));
      list.hidden = false;
    });
  }

  function press(event) {
    const last = results.length - 1, open = !list.hidden;
    if (event.key === "Escape") {
      if (open && !("open" in root.dataset && getComputedStyle(opener).display !== "none")) {
        close();
      } else {
        close();
        input.value = "";
        leave(true);
      }
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !event.altKey) {
      if (!open) {
        answer();
      } else if (results.length) {
        const step = event.key === "ArrowDown" ? 1 : -1;
        choose(chosen + step > last ? 0 : chosen + step < 0 ? last : chosen + step);
      }
    } else if (event.key === "Enter" && !event.isComposing) {
      if (open && chosen >= 0) {
        go(chosen, event.ctrlKey || event.metaKey);
      }
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  const takesText = target => target.closest?.("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !takesText(event.target)) {
      event.preventDefault();
      enter();
    }
  });
  opener.addEventListener("click", enter);
  closer.addEventListener("click", () => { close(); leave(true); });
  input.addEventListener("focus", begin);
  input.addEventListener("input", answer);
  input.addEventListener("keydown", press);
  list.addEventListener("mousedown", event => event.preventDefault());
  root.addEventListener("focusout", event => {
    if (!root.contains(event.relatedTarget)) {
      close();
    }
  });

  // While the page is idle everything is prepared in small steps, so that the first letter is answered at once.
  const rest = globalThis.requestIdleCallback ?? (act => setTimeout(() => act({timeRemaining: () => 8}), 200));
  function warm(steps) {
    rest(time => {
      do {
        steps.shift()?.();
      } while (steps.length && time.timeRemaining() > 4);
      if (steps.length) {
        warm(steps);
      }
    });
  }
  root.dataset.ready = "";
  addEventListener("load", () => rest(() => search.load().then(() => warm(search.steps()), () => {})));
})();
