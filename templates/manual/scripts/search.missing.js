// Results for a spelling that no variant has; `ptxspec query` gives the reason. Adds to `ptxspec.search`
//   missing(opcode, asked)         results: that it does not exist, that it is outside this manual, or that the assembler
//                                  accepts it on no target; and the variants that have its types
//   incomplete(opcode, asked)      the first of these, where only variants with more names have what was asked for
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const types = new Set([...ptxspec.data.types, ...search.data.otherTypes]);
  const listed = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  const dotted = names => names.map(n => `.${n}`);

  // Whether other instructions of an opcode's name have these names, decided as in codegen/ptxspec/catalog/known.py.
  function isElsewhere(opcode, names) {
    const about = search.data.opcodes[opcode], spelled = names.filter(n => types.has(n));
    const asked = spelled.filter(n => !(about.emptyTypes ?? []).includes(n));
    const isOwn = () => search.variants(opcode).some(v => v.types.join(".") === asked.join("."));
    if (names.some(n => (about.otherModifiers ?? []).includes(n)) || (asked.length < spelled.length && isOwn())) {
      return true;
    }
    if (!asked.length) {
      return false;
    }
    if (about.elsewhere === null) {
      return !isOwn();
    }
    return about.elsewhere.map(form => form.split(".")).some(form =>
      form.slice(-asked.length).join(".") === asked.join(".")
      && form.slice(0, -asked.length).every(n => names.includes(n) && !asked.includes(n)));
  }

  const key = spelling => spelling.split(".").slice(1).sort().join(".");

  const names = asked => {
    const order = asked.swapped ? [...asked.types].reverse() : asked.types;
    return [asked.modifiers.map(c => c[0]), order.map(c => c[0])];
  };

  const spelled = (opcode, asked) => [opcode, ...names(asked).flat()].join(".");

  // The reason why a spelling is not a variant, if it does not depend on the other variants; null where there is none.
  function refusal(opcode, asked) {
    const [modifiers, kinds] = names(asked), text = spelled(opcode, asked), page = `${opcode}.html`;
    const first = {kind: "verdict", spelling: text, operands: asked.operands, link: page, hazard: false};
    const wanted = key(text), refused = (search.data.opcodes[opcode].refused ?? []).flatMap(ptxspec.expand);
    const listedOnly = refused.find(s => key(s) === wanted);
    if (listedOnly) {
      return {...first, answer: "no", title: `${listedOnly} is not available on any target`,
        text: `NVIDIA's manual lists it, but ${search.data.assembler} does not accept it.`};
    }
    if (isElsewhere(opcode, [...modifiers, ...kinds])) {
      return {...first, answer: "outside", title: `${text} is not in this manual`,
        text: "Another section of PTX may have it. This manual describes arithmetic instructions."};
    }
    return null;
  }

  const none = (opcode, asked, title, text) => ({kind: "verdict", answer: "no", title, text, link: `${opcode}.html`,
    spelling: spelled(opcode, asked), operands: asked.operands, hazard: false});

  search.missing = (opcode, asked) => {
    const found = refusal(opcode, asked);
    if (found) {
      return [found];
    }
    const [modifiers, kinds] = names(asked), text = spelled(opcode, asked);
    if (!kinds.length && modifiers.length) {
      const others = search.data.opcodes[opcode].elsewhere ?? [];
      const besides = others.length
        ? `Other sections of PTX have ${opcode} with ${listed(dotted(others))}; this manual does not describe them.` : "";
      return [none(opcode, asked, `No variant of ${opcode} has ${listed(dotted(modifiers))}`, besides)];
    }
    const typed = {...asked, modifiers: [], operands: null}, {exact, near, far} = search.fitting(opcode, typed);
    const counted = asked.operands === null ? text : `${text} with ${asked.operands} operands`;
    return [none(opcode, asked, `${counted} does not exist`, `\`ptxspec query ${text}\` says why, and what to write instead.`),
      ...(exact.length || near.length || far.length ? search.described(opcode, typed).slice(0, 3) : [])];
  };

  search.incomplete = (opcode, asked) => {
    const {exact, near, far} = search.fitting(opcode, asked);
    if (exact.length || !(near.length || far.length) || [...asked.modifiers, ...asked.types].some(c => c.length > 1)) {
      return [];
    }
    return [refusal(opcode, asked) ?? none(opcode, asked, `${spelled(opcode, asked)} does not exist`, "These variants exist:")];
  };
})();
