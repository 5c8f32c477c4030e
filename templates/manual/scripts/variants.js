// Links to variants on the page of their opcode: fma.html#fma.rn.bf16, in any order of modifiers, with the number of
// operands at the end where several variants have the spelling: max.html#max.f32-3. The link opens the card of the
// variant and names the variant in it. If the variant does not exist, the page says so and names the nearest ones.
(() => {
  "use strict";
  const cards = () => Array.from(document.querySelectorAll("details.card"), card => ({
    card, operands: Number(card.dataset.operands),
    spellings: Array.from(card.querySelectorAll(".forms code")).flatMap(code => ptxspec.expand(code.textContent)),
  }));
  let every = null;

  // The cards of a spelling, that with the fewest operands first.
  function find(spelling, operands) {
    every ??= cards();
    const wanted = ptxspec.key(spelling);
    return every
      .flatMap(c => c.spellings.filter(s => ptxspec.key(s) === wanted).map(s => ({...c, spelling: s})))
      .filter(c => operands === null || c.operands === operands)
      .sort((one, other) => one.operands - other.operands);
  }

  // How much one spelling must be changed to become another: names that are missing, added or misspelled.
  function distance(asked, other) {
    const names = other.split(".").slice(1), left = asked.split(".").slice(1).filter(name => {
      const place = names.indexOf(name);
      return place < 0 || !names.splice(place, 1);
    });
    let sum = 0;
    for (const name of left) {
      const costs = names.map(n => edits(name.toLowerCase(), n.toLowerCase()) / Math.max(name.length, n.length));
      const least = Math.min(1, ...costs);
      sum += least;
      if (least < 1) {
        names.splice(costs.indexOf(least), 1);
      }
    }
    return sum + names.length;
  }

  function edits(one, other) {
    let row = Array.from({length: other.length + 1}, (_, i) => i);
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1])));
      }
      row = next;
    }
    return row[other.length];
  }

  function nearest(asked) {
    every ??= cards();
    const found = every.flatMap(c => c.spellings.map(s => [distance(asked, s), s]));
    return [...new Set(found.sort(([one], [other]) => one - other).map(([, s]) => s))].slice(0, 3);
  }

  function open(element) {
    for (let e = element; e; e = e.parentElement) {
      if (e.localName === "details") {
        e.open = true;
      }
    }
    element.scrollIntoView({behavior: "instant"});
  }

  function land() {
    const status = document.getElementById("no-variant");
    document.querySelectorAll(".card.target").forEach(c => c.classList.remove("target"));
    status.hidden = true;
    const hash = decoded(location.hash.slice(1)), opcode = document.querySelector("h1").textContent;
    const [, spelling, operands] = hash.match(/^(.*?)(?:-(\d+))?$/);
    const there = document.getElementById(hash);
    if (!hash || (there && !there.classList.contains("card"))) {
      if (there) {
        open(there);
      }
      return;
    }
    if (spelling !== opcode && !spelling.startsWith(opcode + ".")) {
      return; // An old anchor, which is not a variant's.
    }
    const [found] = find(spelling, operands === undefined ? null : Number(operands));
    if (found) {
      name(found);
      return;
    }
    const elsewhere = find(spelling, null), near = elsewhere.length ? elsewhere : nearest(spelling);
    const links = near.map(n => link(n.spelling ? `${n.spelling}-${n.operands}` : n));
    status.replaceChildren(
      code(hash), ` is not a variant of ${opcode}. Nearest: `, ...links.flatMap(a => [a, ", "]).slice(0, -1), ".");
    status.hidden = false;
    status.scrollIntoView({block: "center", behavior: "instant"});
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  function code(text) {
    const made = document.createElement("code");
    made.textContent = text;
    return made;
  }

  function link(hash) {
    const made = document.createElement("a");
    made.href = "#" + hash;
    made.append(code(hash));
    return made;
  }

  // The card's snippet is that of the variant that was asked for.
  function name({card, spelling, operands}) {
    const snippet = card.querySelector(".snippet code"), [, ...rest] = snippet.textContent.split(" ");
    snippet.textContent = [spelling, ...rest].join(" ");
    snippet.parentElement.href = location.hash;
    card.querySelector(".snippet .try")?.setAttribute("href", `#try=${spelling}-${operands}`);
    card.classList.add("target");
    open(card);
  }

  addEventListener("hashchange", land);
  addEventListener("DOMContentLoaded", land);
})();
