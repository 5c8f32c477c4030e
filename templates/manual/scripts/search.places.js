// Where a query asks: targets by their names, compute capabilities, products and architectures; PTX versions and CUDA
// releases; and how many operands. Names of products are read as codegen/ptxspec/query/names.py reads them. Adds
//   ptxspec.search.places(atoms)  {places: [{target, ptx, called}], operands, rest, unknown, releases}: the places that are meant,
//                                 several where the words leave it open; `called` is the product that was named. `rest`
//                                 are the atoms that say nothing about places, `unknown` is what looks like a place but
//                                 is not: [{text, meant}], `releases` those of CUDA: [{text, ptx}]
//   ptxspec.search.targets(words)       the targets that a name of one or several words means
//   ptxspec.search.readBy(release)      the newest PTX version that came with a CUDA release or an earlier one
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {targets, versions} = ptxspec.data, {naming} = search.data;
  const byName = new Map(targets.map(t => [t.name, t]));
  const versionNames = versions.map(v => v.ptx);
  const brands = new Set(naming.brands.map(w => w.toLowerCase()));
  const series = new Set(naming.series.map(w => w.toLowerCase()));
  const edition = new RegExp(`^(?:${naming.editions.join("|")})$`, "i");
  const counts = new Map([["one", 1], ["two", 2], ["three", 3], ["four", 4]]);

  // A word such as Max is an opcode where it can be one.
  const isEdition = word => edition.test(word) && !(word.toLowerCase() in ptxspec.data.opcodes);

  const split = name => name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const complete = new Map(), loose = new Map();
  function called(names, name, target) {
    names.set(name, [...new Set([...(names.get(name) ?? []), target])]);
  }
  targets.forEach((t, i) => {
    const architecture = naming.architecture[i];
    for (const name of architecture && !t.base ? [architecture, ...(naming.architectures[architecture] ?? [])] : []) {
      called(complete, split(name).join(""), t.name);
    }
    for (const product of t.base ? [] : t.products) {
      const parts = split(product), plain = parts.filter(w => !brands.has(w));
      called(complete, parts.join(""), t.name);
      for (const [noSeries, noEdition] of [[false, false], [false, true], [true, false], [true, true]]) {
        const left = plain.filter(w => !(noSeries && series.has(w)) && !(noEdition && edition.test(w)));
        if (left.length) {
          called(loose, left.join(""), t.name);
        }
      }
    }
  });

  search.targets = words => {
    const asked = words.flatMap(split);
    return complete.get(asked.join("")) ?? loose.get(asked.filter(w => !brands.has(w)).join("")) ?? [];
  };

  const number = text => text.split(".").map(Number);
  const older = (one, other) => one[0] - other[0] || (one[1] ?? 0) - (other[1] ?? 0);
  search.readBy = release => {
    const brought = versions.filter(v => v.cuda);
    if (older(number(release), number(brought.at(-1).cuda)) > 0) {
      return null; // Nothing is known of what comes after.
    }
    return brought.filter(v => older(number(v.cuda), number(release)) <= 0).at(-1)?.ptx ?? null;
  };

  // Words before a number that say what it is, and such words with the number in them.
  const kinds = {ptx: "ptx", isa: "ptx", version: "version", cuda: "cuda", sm: "target", compute: "target",
    capability: "target", cc: "target"};
  function glued(text) {
    const [, kind, digits] = text.match(/^(ptx|cuda|cc|isa)[_-]?v?(\d+(?:\.\d+)?)$/i) ?? [];
    return kind ? [kinds[kind.toLowerCase()], digits] : null;
  }
  function targetOf(text) {
    const [, digits, kind] = text.match(/^(?:(?:sm|compute)[_-]?)?(\d{2,3}|\d+\.\d)([af]?)$/i) ?? [];
    return digits ? `sm_${digits.replace(".", "")}${kind.toLowerCase()}` : null;
  }

  search.places = atoms => {
    const named = [], sold = new Map(), ptx = [], numbers = [], rest = [], unknown = [], releases = [];
    let operands = null;
    function take(kind, text) {
      if (kind === "target") {
        const name = targetOf(text);
        if (byName.has(name)) {
          named.push(name);
        } else {
          unknown.push({text: name ?? text, meant: search.nearest(name ?? text, byName.keys())});
        }
      } else if (kind === "cuda") {
        const version = search.readBy(text);
        if (version) {
          ptx.push(version);
          releases.push({text, ptx: version});
        } else {
          unknown.push({text: `CUDA ${text}`, meant: []});
        }
      } else if (versionNames.includes(text)) {
        ptx.push(text);
      } else {
        unknown.push({text: `PTX ${text}`, meant: versionNames.filter(v => v.startsWith(text)).map(v => `PTX ${v}`)});
      }
    }
    for (let i = 0; i < atoms.length; i++) {
      const {text, dotted} = atoms[i], word = text.toLowerCase(), next = atoms[i + 1]?.text ?? "";
      const kind = dotted && word !== "version" ? undefined : kinds[word];
      if (/^(?:\d|one|two|three|four)$/.test(word) && /^(?:source|operands?|sources?|inputs?)$/i.test(next)) {
        operands = counts.get(word) ?? Number(word);
        i += 1 + /^operands?$/i.test(next === "source" ? atoms[i + 2]?.text ?? "" : "");
      } else if (kind && (/^\d+(\.\d+)?$/.test(next) || (kind === "target" && targetOf(next)))) {
        if (kind === "version" && !dotted) {
          numbers.push(next);
        } else {
          take(kind === "version" ? "ptx" : kind, next);
        }
        i += 1;
      } else if (kind && kinds[next.toLowerCase()]) {
        continue; // As in "PTX version 8.0" and "compute capability 9.0": the last of them says what the number is.
      } else if (glued(text)) {
        take(...glued(text));
      } else if (/^(?:sm|compute)[_-]?\d+[af]?$/i.test(text)) {
        take("target", text);
      } else if (/^\d+\.\d+[af]?$/i.test(text)) {
        numbers.push(text);
      } else {
        const span = dotted ? 0 : longest(atoms, i);
        if (span) {
          const words = atoms.slice(i, i + span).map(a => a.text);
          search.targets(words).forEach(t => sold.set(t, words.join(" ")));
          i += span - 1;
          while (atoms[i + 1] && !atoms[i + 1].dotted && isEdition(atoms[i + 1].text)) {
            i += 1;
          }
        } else {
          rest.push(atoms[i]);
        }
      }
    }
    // Somebody who names a GPU and its architecture- or family-specific target means that target.
    const bases = named.map(t => byName.get(t).base);
    const all = [...new Set([...named, ...[...sold.keys()].filter(t => !bases.includes(t))])];
    const places = [];
    const at = (list, version) => (list.length ? list : [null]).map(target =>
      ({target, ptx: version, called: named.includes(target) ? "" : sold.get(target) ?? ""}));
    for (const version of new Set(ptx.length ? ptx : [null])) {
      places.push(...at(all, version));
    }
    // A bare number is a PTX version, a compute capability or a CUDA release: whatever has not been given yet.
    for (const text of numbers) {
      const read = [];
      if (!ptx.length && versionNames.includes(text)) {
        read.push(...at(all, text));
      }
      if (!all.length && byName.has(targetOf(text))) {
        read.push(...(ptx.length ? ptx : [null]).map(version => ({target: targetOf(text), ptx: version, called: ""})));
      }
      if (!read.length && !ptx.length && versions.some(v => v.cuda === text)) {
        read.push(...at(all, search.readBy(text)));
      }
      if (read.length) {
        places.splice(0, places.length, ...read);
      } else {
        unknown.push({text, meant: []});
      }
    }
    return {places: places.filter(p => p.target || p.ptx), operands, rest, unknown, releases};
  };

  // How many atoms from a place on are the name of a GPU or of an architecture.
  function longest(atoms, from) {
    let most = atoms.slice(from).findIndex(a => a.dotted || a.head);
    most = Math.min(most < 0 ? atoms.length - from : most, 7);
    for (let n = most; n > 0; n--) {
      if (search.targets(atoms.slice(from, from + n).map(a => a.text)).length) {
        return n;
      }
    }
    return 0;
  }
})();
