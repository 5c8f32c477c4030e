// The variants that words fit. Adds to `ptxspec.search`
//   variants(opcode)         [{opcode, spelling, modifiers, types, operands, row, crash}]: all, including those on
//                            which the assembler crashes; their `crash` says how, and their `row` is null
//   names(opcode)            the modifiers and types of an opcode, or of all
//   fitting(opcode, asked)   {exact, near, far}: the variants that are what was asked for, those with only that in
//                            their types, and those that have it among others. `asked` is what
//                            search.meaning.js makes of words
//   label(variants, asked)   such variants in few words, in the notation of the syntax lines where that is exact
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {opcodes, groups} = ptxspec.data, types = new Set(ptxspec.data.types);

  function parsed(spelling, operands, row, crash) {
    const [opcode, ...names] = spelling.split(".");
    const first = names.findIndex(n => types.has(n)), end = first < 0 ? names.length : first;
    return {opcode, spelling, modifiers: names.slice(0, end), types: names.slice(end), operands, row, crash};
  }

  const read = new Map();
  search.variants = opcode => {
    if (!read.has(opcode)) {
      const about = search.data.opcodes[opcode];
      const counts = new Map((about.counts ?? []).flatMap(([texts, n]) =>
        texts.flatMap(ptxspec.expand).map(spelling => [spelling, n])));
      const found = ptxspec.rows.filter(row => row.opcode === opcode).flatMap(row => row.spellings().map(spelling =>
        parsed(spelling, row.operands ?? counts.get(spelling) ?? about.operands, row, "")));
      const crashes = (about.crashes ?? []).flatMap(([texts, operands, text]) => texts.flatMap(ptxspec.expand)
        .map(spelling => parsed(spelling, operands ?? counts.get(spelling) ?? about.operands, null, text)));
      read.set(opcode, [...found, ...crashes]);
    }
    return read.get(opcode);
  };

  const named = new Map();
  search.names = opcode => {
    if (!named.has(opcode)) {
      const every = opcode ? [opcode] : Object.keys(opcodes);
      const found = every.flatMap(o => search.variants(o).flatMap(v => [...v.modifiers, ...v.types]));
      named.set(opcode, [...new Set(found)]);
    }
    return named.get(opcode);
  };

  const has = (names, choices) => choices.some(name => names.includes(name));

  // Whether a variant has the types that were asked for: a single one in any place, several each in a different place.
  function inOrder(has, asked) {
    let place = 0;
    return asked.every(choices => {
      while (place < has.length && !choices.includes(has[place])) {
        place++;
      }
      return place++ < has.length;
    });
  }
  function inAnyOrder(has, asked) {
    const left = [...has];
    return asked.every(choices => {
      const place = left.findIndex(t => choices.includes(t));
      return place >= 0 && left.splice(place, 1).length;
    });
  }

  function fitting(opcode, {modifiers, types: kinds, operands, swapped, ordered: inPlace}) {
    const asked = swapped ? [...kinds].reverse() : kinds;
    const modified = search.variants(opcode).filter(v =>
      (operands === null || v.operands === operands) && modifiers.every(choices => has(v.modifiers, choices)));
    const ordered = modified.filter(v => inOrder(v.types, asked));
    const found = ordered.length || swapped || inPlace ? ordered : modified.filter(v => inAnyOrder(v.types, asked));
    const whole = found.filter(v => asked.length > 0 && v.types.length === asked.length);
    const exact = whole.filter(v => found === ordered && v.modifiers.length === modifiers.length
      && [...modifiers, ...asked].every(choices => choices.length === 1));
    return {
      exact: exact.sort((a, b) => a.operands - b.operands),
      near: whole.filter(v => !exact.includes(v)),
      far: found.filter(v => !whole.includes(v)),
    };
  }

  // What is asked about many places is found once.
  const fitted = new WeakMap();
  search.fitting = (opcode, asked) => {
    if (!fitted.has(asked)) {
      fitted.set(asked, new Map());
    }
    const known = fitted.get(asked);
    if (!known.has(opcode)) {
      known.set(opcode, fitting(opcode, asked));
    }
    return known.get(opcode);
  };

  // A notation with only the choices that were asked for.
  function narrowed(text, wanted) {
    const choices = text.replace(/\.\{([^{}]*)\}|\.([\w:]+)/g, (whole, list, name) => {
      const options = (list ?? name).split(",").flatMap(n => groups[n] ?? [n]);
      const kept = options.filter(n => wanted.has(n));
      if (!kept.length || kept.length === options.length) {
        return whole;
      }
      return kept.length === 1 ? `.${kept[0]}` : `.{${kept.join(",")}}`;
    });
    return choices.replace(/(?<!\.)\{\.([\w:]+)\}/g, (whole, name) => wanted.has(name) ? `.${name}` : whole);
  }

  search.label = (variants, {modifiers, types: kinds}) => {
    const wanted = new Set([...modifiers, ...kinds].flat()), byRow = new Map();
    for (const v of variants) {
      if (!byRow.has(v.row)) {
        byRow.set(v.row, []);
      }
      byRow.get(v.row).push(v.spelling);
    }
    const told = [];
    for (const [row, spellings] of byRow) {
      const left = new Set(spellings);
      for (const text of row?.texts ?? []) {
        const here = narrowed(text, wanted), meant = ptxspec.expand(here);
        if (meant.length && meant.every(s => left.has(s))) {
          told.push(here);
          meant.forEach(s => left.delete(s));
        }
      }
      told.push(...left);
    }
    const [first, second] = told;
    if (told.length === 1) {
      return first;
    }
    if (told.length === 2) {
      return `${first} and ${second}`;
    }
    return `${first} and ${variants.length - ptxspec.expand(first).length} more`;
  };
})();
