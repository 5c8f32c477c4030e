// Functions of CUDA C++, libdevice, LLVM, MLIR and Triton, with the PTX that they compile to, and instructions of PTX that this manual
// does not describe. Adds to `ptxspec.search`
//   others(atoms, places)  {results, rest, begun}: results for those that are named, the atoms that name none, and
//                          functions whose names begin with a word, or are spelled nearly like it
//   outside(opcode)        the result for another instruction: what it does, what it requires, and its page if it has one
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {outside, functions: {compiler, compilers, targets, texts, histories, names}} = search.data, {opcodes} = ptxspec.data;
  const known = Object.keys(names), most = 4, lower = new Map(known.map(name => [name.toLowerCase(), name]));

  search.outside = opcode => {
    const [section, summary, requires, page] = outside[opcode], needs = requires && `Requires ${requires}.`;
    const [answer, title] = page ? ["yes", `${opcode} has a page of its own`] : ["outside", `${opcode} is PTX, but this manual does not describe it`];
    return {
      kind: "verdict", answer, title, link: page ?? "index.html", hazard: false,
      text: [summary, section && `Section ${section}.`, needs].filter(Boolean).join(" "),
    };
  };

  // What a call compiles to: [{text, on: [[first, last], ...]}], the newest target's first, without targets that were not tried.
  function became(history) {
    const found = new Map();
    for (let i = 0, at = 0; i < history.length; at += history[i + 1], i += 2) {
      const text = texts[history[i]], run = [at, at + history[i + 1] - 1];
      found.set(text, [...(found.get(text) ?? []), run]);
    }
    found.delete(undefined);
    return [...found].map(([text, on]) => ({text, on})).sort((a, b) => b.on.at(-1)[1] - a.on.at(-1)[1]);
  }
  const span = ([first, last]) => first === last ? targets[first]
    : last === targets.length - 1 ? `from ${targets[first]} on` : `${targets[first]} to ${targets[last]}`;
  const isOne = text => /^\S+\.\S+$/.test(text);
  const words = ({text, on}) => `${on.map(span).join(", ")}: ${isOne(text) ? "one instruction, " : ""}${text || "does not compile"}`;

  // The page of the instruction that says most about what a call compiles to, the newest target's first.
  function link(parts) {
    for (const {text} of parts) {
      for (const spelling of text.split(/[, ]+/).sort((a, b) => b.length - a.length)) {
        const [opcode] = spelling.split(".");
        const v = Object.hasOwn(opcodes, opcode) && search.variants(opcode).find(v => v.spelling === spelling);
        if (v) {
          return search.address(v);
        }
      }
    }
    return "index.html";
  }

  function called(name, place) {
    const [left, ...rows] = Array.isArray(names[name]) ? names[name] : [0, [names[name], null]];
    return rows.map(([history, takes], i) => {
      const parts = became(histories[history]), title = takes === null ? name : `${name}(${takes})`;
      const more = left ? ` and ${left} more call${left > 1 ? "s" : ""}` : "";
      const help = i ? "" : ` \`ptxspec query ${name}\` shows the operands${more}.`;
      const all = {kind: "function", answer: "", title, link: link(parts), hazard: false, text: `${parts.map(words).join("; ")}.${help}`};
      if (!place) {
        return all;
      }
      const at = targets.indexOf(place.target), on = place.called ? `${place.target} (${place.called})` : place.target;
      if (at < 0) {
        return {...all, answer: "no", title: `${title} is not compiled for ${on}`,
          text: `${compilers[name.split(".")[0]] ?? compiler} compiles for ${targets[0]} to ${targets.at(-1)}.`};
      }
      const here = parts.filter(part => part.on.some(([first, last]) => first <= at && at <= last)), [{text} = {text: ""}] = here;
      return {...all, answer: text ? "yes" : "no", title: `${title} on ${on}: ${text || "does not compile"}`, link: link(here)};
    });
  }

  const plain = name => name.replace(/^_+/, "");

  search.others = (atoms, places) => {
    const results = [], rest = [], spelled = new Set(), sought = places.filter(p => p.target);
    for (const atom of atoms) {
      const word = atom.text.toLowerCase(), alone = !atom.dotted && !atom.head;
      const name = Object.hasOwn(names, atom.text) ? atom.text : lower.get(word);
      if (spelled.has(atom.word)) {
        continue; // It follows the name of another instruction.
      }
      if (atom.head && Object.hasOwn(names, atom.whole)) {
        results.push(...(sought.length ? sought : [null]).flatMap(place => called(atom.whole, place)));
        spelled.add(atom.word);
      } else if (atom.dotted || search.isFiller(atom) || Object.hasOwn(opcodes, word)) {
        rest.push(atom);
      } else if (alone && name) {
        results.push(...(sought.length ? sought : [null]).flatMap(place => called(name, place)));
      } else if (Object.hasOwn(outside, word)) {
        results.push(search.outside(word));
        spelled.add(atom.word);
      } else {
        rest.push(atom);
      }
    }
    const [{text, head}] = atoms.length ? atoms : [{text: ""}], word = text.toLowerCase();
    const isName = atoms.length === 1 && rest.length === 1 && !head && word.length > 2 && !Object.hasOwn(opcodes, word);
    const begins = isName ? known.filter(name => plain(name.toLowerCase()).startsWith(plain(word))) : [];
    const meant = begins.length || !isName || !text.includes("_") ? begins : search.nearest(text, known);
    return {results, rest, begun: meant.slice(0, most).flatMap(name => called(name, null).slice(0, 1))};
  };
})();
