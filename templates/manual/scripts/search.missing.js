// What to say of a spelling that no variant has. Adds to `ptxspec.search`
//   missing(opcode, asked, place)  results: that it does not exist, that PTX has it and this manual does not, or that the
//                                  assembler takes it nowhere; and what is spelled alike
//   incomplete(opcode, asked)      the first of these, where variants have what was asked and more; nothing where one is it
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const types = new Set([...ptxspec.data.types, ...search.data.otherTypes]);
  const listed = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
  const dotted = names => names.map(n => `.${n}`);

  // Whether other instructions have the name of an opcode with these names, as codegen/ptxspec/ptx/elsewhere.py has it.
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

  function why(opcode, modifiers, kinds, all) {
    if (!kinds.length) {
      const lacking = modifiers.filter(m => !search.names(opcode).includes(m));
      return lacking.length ? `${opcode} has no ${listed(dotted(lacking))}.` : "";
    }
    const typed = all.filter(v => kinds.every(t => v.types.includes(t)));
    if (!typed.length) {
      const has = [...new Set(all.flatMap(v => v.types))];
      const strange = kinds.filter(t => !has.includes(t));
      const lacks = strange.length ? `${opcode} has no ${listed(dotted(strange))}` : `${opcode} has no ${kinds.map(t => `.${t}`).join("")}`;
      return `${lacks}${has.length < 16 ? `; it has ${listed(dotted(has))}` : ""}.`;
    }
    const known = [...new Set(typed.flatMap(v => v.modifiers))], form = [opcode, ...kinds].join(".");
    const lacking = modifiers.filter(m => !known.includes(m));
    if (lacking.length) {
      return `${form} has no ${listed(dotted(lacking))}; it has ${listed(dotted(known)) || "no modifiers"}.`;
    }
    return modifiers.length > 1 ? `${form} does not take ${listed(dotted(modifiers))} together.` : "";
  }

  const names = asked => {
    const order = asked.swapped ? [...asked.types].reverse() : asked.types;
    return [asked.modifiers.map(c => c[0]), order.map(c => c[0])];
  };

  // What keeps a spelling from being a variant that does not depend on which others there are; nothing where nothing does.
  function refusal(opcode, asked) {
    const [modifiers, kinds] = names(asked), text = [opcode, ...modifiers, ...kinds].join("."), page = `${opcode}.html`;
    const first = {kind: "verdict", spelling: text, operands: asked.operands, link: page, hazard: false};
    const {exact} = asked.operands === null ? {exact: []} : search.fitting(opcode, {...asked, operands: null});
    if (exact.length) {
      const counts = exact.map(v => v.operands).join(" or ");
      return {...first, answer: "no", title: `${exact[0].spelling} with ${asked.operands} operands does not exist`,
        text: `It takes ${counts}.`, link: search.address(exact[0])};
    }
    const wanted = key(text), refused = (search.data.opcodes[opcode].refused ?? []).flatMap(ptxspec.expand);
    const listedOnly = refused.find(s => key(s) === wanted);
    if (listedOnly) {
      return {...first, answer: "no", title: `${listedOnly} is on no target`,
        text: `NVIDIA's manual has it, and ${search.data.assembler} takes it nowhere.`};
    }
    if (isElsewhere(opcode, [...modifiers, ...kinds])) {
      return {...first, answer: "outside", title: `${text} is not in this manual`,
        text: "Other sections of PTX may have it: this manual describes the floating-point instructions and what they stand on."};
    }
    return null;
  }

  search.missing = (opcode, asked, place) => {
    const found = refusal(opcode, asked);
    if (found) {
      return [found];
    }
    const [modifiers, kinds] = names(asked), all = search.variants(opcode), text = [opcode, ...modifiers, ...kinds].join(".");
    const alike = search.alike(opcode, asked, place).map(v => ({
      kind: "variant", answer: "", title: v.spelling, link: search.address(v), spelling: v.spelling, operands: v.operands,
      text: `Spelled alike, and not the same. Needs ${v.row.requires}.`, hazard: false,
    }));
    const others = search.data.opcodes[opcode].elsewhere ?? [];
    const title = kinds.length ? `${text} does not exist` : `No ${opcode} here has ${listed(dotted(modifiers))}`;
    const besides = !kinds.length && others.length
      ? ` Other sections of PTX have ${opcode} with ${listed(dotted(others))}; this manual does not describe them.` : "";
    return [{kind: "verdict", answer: "no", title, text: why(opcode, modifiers, kinds, all) + besides, link: `${opcode}.html`,
      spelling: text, operands: asked.operands, hazard: false}, ...alike];
  };

  search.incomplete = (opcode, asked) => {
    const {exact, near, far} = search.fitting(opcode, asked);
    if (exact.length || !(near.length || far.length) || [...asked.modifiers, ...asked.types].some(c => c.length > 1)) {
      return [];
    }
    const found = refusal(opcode, asked);
    if (found) {
      return [found];
    }
    const [modifiers, kinds] = names(asked), text = [opcode, ...modifiers, ...kinds].join(".");
    const lacking = near.map(v => v.modifiers.filter(m => !modifiers.includes(m)));
    const fewest = Math.min(...lacking.map(l => l.length));
    const least = [...new Set(lacking.filter(l => l.length === fewest).map(l => listed(dotted(l))))];
    const lacks = near.length ? least.join(" or ") : "a type";
    return [{kind: "verdict", answer: "no", title: `${text} does not exist: it lacks ${lacks}`, text: "These do:",
      link: search.address((near.length ? near : far)[0]), spelling: text, operands: asked.operands, hazard: false}];
  };
})();
