// The table of availability: filters, a verdict for each row, and the variants of a row. The address carries the state,
// as in availability.html#q=add+bf16&target=sm_80&ptx=7.8.
(() => {
  "use strict";
  const {data} = ptxspec;
  const form = document.querySelector("form.filters"), table = document.getElementById("matrix");
  const found = document.getElementById("found"), notice = document.getElementById("notice");
  const box = table.parentElement;
  const NAMES = ["q", "type", "target", "ptx", "claim", "only"];
  // Up to this number, variants are shown at once.
  const FEW = 12;
  // The number of rows that appear at once.
  const SLICE = 30;
  const number = n => n.toLocaleString("en");
  const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

  // The rows of the table are those of the catalogue, in its order.
  const rows = Array.from(table.querySelectorAll("tbody tr:not(.opcode)"), (row, n) => {
    const verdict = document.createElement("strong");
    row.querySelector(".needs").prepend(verdict);
    return {
      row, body: row.parentElement, verdict, family: ptxspec.rows[n], place: n,
      matching: [], opened: null, byHand: null,
      button: row.querySelector("button"), folded: row.querySelector("details"),
      codes: Array.from(row.querySelectorAll("th code"), (code, i) => [code, ptxspec.rows[n].texts[i]]),
    };
  });
  const groups = Array.from(table.tBodies, body => [body, rows.filter(r => r.body === body)]);

  // Filters

  function asked() {
    const state = Object.fromEntries(NAMES.map(name => [name, form.elements[name].value.trim()]));
    return {...state, only: form.elements.only.checked ? "1" : "", words: state.q.split(/\s+/).filter(Boolean)};
  }

  function claims({family}, {target}) {
    return target ? [ptxspec.claimOn(family, target)] : [family.claim, ...Object.keys(family.claims)];
  }

  function filter() {
    const state = asked(), has = ptxspec.matcher(state.words, state.type);
    const narrowed = state.words.length > 0 || state.type !== "";
    let shown = 0, variants = 0, there = 0, hazardous = 0;
    for (const r of rows) {
      const every = ptxspec.variants[r.place];
      r.answer = ptxspec.verdict(r.family, state);
      const claimed = !state.claim || claims(r, state).includes(state.claim);
      const wanted = claimed && !(state.only && r.answer?.kind === "no");
      r.matching = wanted ? (narrowed ? every.filter(has) : every) : [];
      r.all = r.matching.length === every.length;
      if (r.matching.length) {
        shown += 1;
        variants += r.matching.length;
        there += r.answer?.kind === "no" ? 0 : r.matching.length;
        hazardous += r.answer?.kind === "hazard" ? r.matching.length : 0;
      }
    }
    draw(narrowed && variants <= FEW);
    pick(state.target);
    table.classList.toggle("asked", Boolean(state.target || state.ptx));
    count(state, shown, variants, there, hazardous);
    return shown > 0;
  }

  function count(state, shown, variants, there, hazardous) {
    const where = [state.target && `on ${state.target}`, state.ptx && `with PTX ${state.ptx}`].filter(Boolean);
    const groups = plural(shown, "group");
    const many = there === variants ? "all" : there ? number(there) : "none";
    const answer = where.length && variants ? `; ${many} available ${where.join(" ")}` : "";
    const wrong = hazardous ? `, ${number(hazardous)} with a hazard` : "";
    say(found, `${plural(variants, "variant")} in ${groups}${answer}${wrong}`);
  }

  // Rows

  // Rows are hidden at once, and appear slice by slice where they fill more than a window, so that no keystroke waits
  // for the layout of thousands of cells.
  let later = 0;
  function draw(few) {
    clearTimeout(later);
    rows.filter(r => !r.matching.length).forEach(hide);
    for (const [body, own] of groups) {
      if (own.every(r => !r.matching.length)) {
        body.hidden = true;
      }
    }
    slice(rows.filter(r => r.matching.length), few);
  }

  function slice(wanted, few) {
    let drawn = 0, n = 0;
    for (; n < wanted.length && drawn < SLICE; n++) {
      drawn += wanted[n].row.hidden || wanted[n].body.hidden;
      show(wanted[n], few);
    }
    if (n < wanted.length) {
      later = setTimeout(slice, 0, wanted.slice(n), few);
    }
  }

  function hide(r) {
    r.row.hidden = true;
    close(r);
  }

  // Writing the same text again would cause a new layout.
  function say(element, text) {
    if (element.textContent !== text) {
      element.textContent = text;
    }
  }

  function show(r, few) {
    r.row.hidden = r.body.hidden = false;
    const meant = r.all ? null : new Set(r.matching.map(v => v.text));
    for (const [code, text] of r.codes) {
      code.hidden = meant !== null && !meant.has(text);
    }
    if (r.folded) {
      const inside = r.codes.filter(([code]) => !code.hidden && r.folded.contains(code)).length;
      r.folded.hidden = !inside;
      r.folded.open = inside > 0 && !r.all && inside <= FEW / 2;
      say(r.folded.firstChild, `${number(inside)} more`);
    }
    const total = ptxspec.variants[r.place].length;
    say(r.button, r.all ? plural(total, "variant") : `${number(r.matching.length)} of ${plural(total, "variant")}`);
    say(r.verdict, r.answer?.text ?? "");
    r.verdict.className = r.answer ? `verdict ${r.answer.kind}` : "";
    r.row.classList.toggle("missing", r.answer?.kind === "no");
    if (r.byHand ?? few) {
      open(r);
    } else {
      close(r);
    }
  }

  function open(r) {
    const list = document.createElement("ul");
    for (const v of r.matching) {
      const link = document.createElement("a"), code = document.createElement("code");
      code.textContent = v.operands === null ? v.spelling : `${v.spelling} (${v.operands})`;
      link.href = `${v.row.opcode}.html#${v.spelling}${v.operands === null ? "" : `-${v.operands}`}`;
      link.append(code);
      list.append(document.createElement("li"));
      list.lastChild.append(link);
    }
    if (!r.opened) {
      r.opened = document.createElement("tr");
      r.opened.className = "opened";
      r.opened.append(document.createElement("td"));
      r.row.after(r.opened);
    }
    const claim = document.createElement("p");
    const said = name => `${name} (${form.elements.claim.querySelector(`[value="${name}"]`).title})`;
    claim.textContent = `Claim: ${said(r.family.claim)}` + Object.entries(r.family.claims)
      .map(([other, on]) => `; ${said(other)} on ${on.join(", ")}`).join("");
    const cell = r.opened.firstChild;
    cell.colSpan = table.tHead.rows[0].cells.length;
    cell.replaceChildren(document.createElement("div"));
    cell.firstChild.append(claim, list);
    r.button.setAttribute("aria-expanded", "true");
  }

  function close(r) {
    if (r.opened) {
      r.opened.remove();
      r.opened = null;
      r.button.setAttribute("aria-expanded", "false");
    }
  }

  // The column of a target, or of the target that it is a kind of.
  let picked = null;
  function pick(target) {
    const name = target && (data.targets.find(t => t.name === target).base || target);
    if (picked === name) {
      return;
    }
    picked = name;
    for (const cell of table.querySelectorAll(".picked")) {
      cell.classList.remove("picked");
    }
    const head = name && table.querySelector(`th[data-target="${name}"]`);
    if (head) {
      const place = head.cellIndex;
      for (const {cells} of [table.tHead.rows[0], ...rows.map(r => r.row)]) {
        cells[place].classList.add("picked");
      }
      const fixed = table.tHead.rows[0].cells[1], edge = fixed.offsetLeft + fixed.offsetWidth - box.scrollLeft;
      const left = head.offsetLeft - box.scrollLeft;
      if (left < edge || left + head.offsetWidth > box.clientWidth) {
        box.scrollLeft += left - (edge + box.clientWidth - head.offsetWidth) / 2;
      }
    }
  }

  // The address

  let waiting = 0;
  function save(push) {
    clearTimeout(waiting);
    const state = asked(), given = NAMES.filter(name => state[name]).map(name => [name, state[name]]);
    const text = new URLSearchParams(given).toString();
    if (text === location.hash.slice(1)) {
      return;
    }
    const address = text ? `#${text}` : location.pathname + location.search;
    history[push ? "pushState" : "replaceState"](null, "", address);
  }

  // The value of a filter for a name in the address: the name itself, or the nearest one, which is noted in `said`.
  function meant(name, value, said) {
    const choice = form.elements[name], known = Array.from(choice.options, o => o.value).filter(Boolean);
    const same = known.find(k => k.toLowerCase() === value.toLowerCase());
    if (same || !value) {
      return same ?? "";
    }
    const kind = {type: "type", target: "target", ptx: "PTX version", claim: "claim"}[name];
    const {nearestTarget, nearestVersion} = ptxspec;
    const near = {target: nearestTarget, ptx: nearestVersion}[name]?.(value) ?? ptxspec.closest(value, known);
    const sold = name === "target" && near && ptxspec.sells(near, value);
    said.push(sold ? `${value} is ${near}.`
      : `There is no ${kind} ${value}${near ? `; the table shows the nearest, ${near}` : ""}.`);
    return near ?? "";
  }

  function restore() {
    const state = new URLSearchParams(location.hash.slice(1)), said = [];
    if (location.hash.length > 1 && !NAMES.some(name => state.has(name))) {
      return false; // The address names a place on the page.
    }
    form.elements.q.value = state.get("q") ?? "";
    form.elements.only.checked = Boolean(state.get("only"));
    for (const name of ["type", "target", "ptx", "claim"]) {
      form.elements[name].value = meant(name, state.get(name) ?? "", said);
    }
    for (const name of state.keys()) {
      if (!NAMES.includes(name)) {
        said.push(`There is no filter ${name}.`);
      }
    }
    update(said);
    return true;
  }

  // Notices

  function update(said = []) {
    const some = filter(), state = asked(), lines = said.map(text => [text]);
    const target = data.targets.find(t => t.name === state.target), versions = data.versions.map(v => v.ptx);
    if (target && state.ptx && versions.indexOf(state.ptx) < versions.indexOf(target.ptx)) {
      lines.push([`PTX ${state.ptx} does not have ${target.name}, which was introduced in PTX ${target.ptx}.`]);
    }
    if (!some) {
      lines.push(...missing(state));
    }
    notice.hidden = !lines.length;
    notice.replaceChildren(...lines.flatMap(line => [...line, " "]));
  }

  // The reasons why nothing is found, and suggestions.
  function missing(state) {
    const unused = state.words.filter(word => !ptxspec.isUsed(word));
    if (!unused.length) {
      return [["No variant matches all filters. Remove a word or a choice."]];
    }
    return unused.map(word => [`No variant matches ${word}.`, ...instead(word, state)]);
  }

  function instead(word, state) {
    const rest = state.words.filter(w => w !== word).join(" ");
    const target = /^sm_?\d/i.test(word) ? ptxspec.nearestTarget(word) : ptxspec.sold(word);
    if (target) {
      return [" Show ", suggestion(`target ${target}`, {q: rest, target}), "?"];
    }
    if (data.versions.some(v => v.ptx === word)) {
      return [" Show ", suggestion(`PTX ${word}`, {q: rest, ptx: word}), "?"];
    }
    const near = word.includes(".") ? word.split(".").filter(Boolean).join(" ") : ptxspec.usedLike(word);
    return near ? [" Did you mean ", suggestion(near, {q: [rest, near].filter(Boolean).join(" ")}), "?"] : [];
  }

  function suggestion(text, values) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => {
      for (const [name, value] of Object.entries(values)) {
        form.elements[name].value = value;
      }
      update();
      save(true);
      form.elements.q.focus();
    });
    return button;
  }

  // Browsers refuse to write an address at every keystroke of a quick typist.
  form.elements.q.addEventListener("input", () => {
    update();
    clearTimeout(waiting);
    const there = location.href; // A user who has gone to another address meanwhile stays there.
    waiting = setTimeout(() => location.href === there && save(false), 200);
  });
  form.addEventListener("change", event => {
    if (event.target !== form.elements.q) {
      update();
      save(true);
    }
  });
  form.addEventListener("submit", event => event.preventDefault());
  form.querySelector("button").addEventListener("click", () => {
    form.reset();
    rows.forEach(r => { r.byHand = null; });
    update();
    save(true);
  });
  table.addEventListener("click", event => {
    const r = rows.find(one => one.button === event.target.closest("button"));
    if (r) {
      r.byHand = !r.opened;
      (r.byHand ? open : close)(r);
    }
  });
  addEventListener("hashchange", restore);
  try {
    if (!restore()) {
      update();
    }
  } finally {
    document.documentElement.classList.remove("waiting");
  }
})();
