// The entries besides variants: opcodes, pages, modifiers, types, functions, targets and what their GPUs are sold as,
// PTX versions, CUDA releases, notes, hazards and sections of pages. Adds to `ptxspec.search`
//   entries(query)  [{kind, title, link, text, level}], best first; `level` says how well it fits: 5 the query is its name,
//                   4 its name begins with the query, 3 its name has all words, 2 its text has them, 1 a word is misspelt
//   partly(words)   where nothing fits all words: the entries with the most of them, in any form
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {opcodes, targets, versions} = ptxspec.data;
  // Where two fit equally well, the one that is asked for more often comes first.
  const kinds = ["opcode", "target", "PTX", "CUDA", "page", "modifier", "type", "register", "function", "claim", "hazard", "section", "note", "outside"];
  const words = text => text.toLowerCase().match(/\w+(?:::\w+)*(?:\.\d+)*/g) ?? [];
  // A name such as convertStochastic is called by its parts, too.
  const parts = text => words(text.replace(/([a-z])([A-Z])/g, "$1 $2"));
  const page = name => name.replace(/\.html$/, "");

  function made() {
    const found = [];
    const add = (kind, title, link, text, names = []) => found.push({kind, title, link, text, names});
    for (const [opcode, {summary}] of Object.entries(opcodes)) {
      const words = Object.keys(search.data.words).filter(word => search.data.words[word].includes(opcode));
      add("opcode", opcode, `${opcode}.html`, summary, words);
    }
    targets.forEach((t, i) => {
      const architecture = search.data.naming.architecture[i], link = `history.html#${t.name}`;
      const sold = t.products.slice(0, 6).join(", ") + (t.products.length > 6 ? ` and ${t.products.length - 6} more` : "");
      const text = [architecture, sold, `from PTX ${t.ptx}`].filter(Boolean).join("; ");
      const number = t.name.slice(3);
      const names = [`compute_${number}`, `compute capability ${number.replace(/(\d)([af]?)$/, ".$1$2")}`];
      add("target", t.name, link, text, t.base ? names : [...names, ...t.products.flatMap(p => [p, p.replace(/^(?:NVIDIA|GeForce) /, "")])]);
    });
    for (const {ptx, cuda} of versions) {
      add("PTX", `PTX ${ptx}`, `history.html#ptx-${ptx}`, cuda ? `First supported by CUDA ${cuda}.` : "", [ptx, `ptx${ptx}`]);
      if (cuda && search.readBy(cuda) === ptx) {
        add("CUDA", `CUDA ${cuda}`, `history.html#ptx-${ptx}`, `Supports PTX up to ${ptx}.`, [`cuda${cuda}`]);
      }
    }
    for (const [kind, title, link, summary, names, uses] of search.data.entries) {
      const plain = /^[.%]/.test(title) ? [title.slice(1)] : [];
      const common = Object.entries(search.data.called).filter(([, names]) => names.includes(plain[0])).map(([name]) => name);
      const text = uses.length ? `${summary} In ${uses.join(", ")}.` : summary;
      add(kind, title, link, text, [...plain, ...common, ...names]);
    }
    for (const [name, headings] of Object.entries(search.data.sections)) {
      for (const [title, anchor] of headings) {
        const link = anchor ? `${name}#${anchor}` : name, opcode = page(name) in opcodes ? page(name) : "";
        if (anchor || !opcode) {
          add("section", opcode ? `${opcode}: ${title}` : title, link, opcode ? "" : anchor && page(name), [anchor || page(name)]);
          found.at(-1).opcode = opcode;
        }
      }
    }
    for (const opcode of Object.keys(search.data.outside)) {
      const {title, link, text} = search.outside(opcode);
      add("outside", title, link, text, [opcode]);
    }
    for (const entry of found) {
      entry.called = [entry.title, ...entry.names].map(n => n.toLowerCase());
      entry.inName = [...new Set([...entry.called.flatMap(words), ...parts(entry.title)])];
      entry.inText = words(entry.text);
    }
    return found;
  }
  let every = null;

  // How well words fit an entry: each of them must.
  function level(entry, query, asked) {
    if (entry.opcode && !asked.includes(entry.opcode)) {
      return 0; // Every instruction has such a section.
    }
    if (entry.called.includes(query)) {
      return 5;
    }
    if (query.length > 1 && entry.called.some(name => name.startsWith(query))) {
      return 4;
    }
    let least = 3;
    for (const word of asked) {
      const begins = w => w.startsWith(word);
      if (entry.inName.some(begins)) {
        continue;
      }
      if (word.length > 1 && entry.inText.some(begins)) {
        least = Math.min(least, 2);
      } else {
        return 0;
      }
    }
    return asked.length ? least : 0;
  }

  // Only in names: among the words of a text, one is like almost anything.
  const isName = entry => !["page", "section", "hazard", "note", "outside"].includes(entry.kind);
  let vocabulary = null;
  const nearly = new Map();
  function near(word) {
    vocabulary ??= new Set(every.filter(isName).flatMap(entry => entry.inName));
    if (!nearly.has(word)) {
      const most = search.allowed(word);
      const known = [...vocabulary].filter(w => w.startsWith(word) || search.distance(word, w, most) <= most);
      nearly.set(word, new Set(known));
    }
    return nearly.get(word);
  }
  function misspelt(asked) {
    const meant = asked.map(near);
    return meant.some(words => !words.size) ? []
      : every.filter(entry => isName(entry) && meant.every(words => entry.inName.some(w => words.has(w))));
  }

  // The beginning that a word's other forms share: rounding, rounded and rounds.
  const stem = word => word.length > 5 ? word.slice(0, Math.max(5, word.length - 3)) : word;

  search.partly = texts => {
    const stems = texts.flatMap(words).filter(w => w.length > 2).map(stem);
    const found = every.filter(entry => !entry.opcode).map(entry => {
      const has = list => stems.filter(s => list.some(w => w.startsWith(s))).length;
      return {...entry, level: 1, points: has([...entry.inName, ...entry.inText]) + has(entry.inName) / 10};
    }).filter(entry => entry.points >= Math.max(1, stems.length / 2));
    return stems.length ? found.sort((a, b) => b.points - a.points).slice(0, 6) : [];
  };

  search.entries = text => {
    every ??= made();
    const query = text.trim().toLowerCase().replace(/\s+/g, " "), asked = words(query);
    if (!asked.length) {
      return [];
    }
    const whole = entry => asked.filter(w => entry.inName.includes(w)).length;
    const alike = entry => [entry.title, ...entry.names].includes(text.trim());
    const ranked = found => found.sort((a, b) => b.level - a.level || alike(b) - alike(a) || whole(b) - whole(a)
      || kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.kind === "section" ? a.link.includes("#") - b.link.includes("#") : 0) || (a.level > 2 && a.kind !== "section" ? a.title.length - b.title.length : 0));
    const found = [];
    for (const entry of every) {
      const fits = level(entry, query, asked);
      if (fits) {
        found.push({...entry, level: fits});
      }
    }
    if (found.length) {
      return ranked(found);
    }
    return ranked(misspelt(asked).map(entry => ({...entry, level: 1})));
  };
})();
