// The opcodes, modifiers and types that the words of a query mean. Adds to `ptxspec.search`
//   converting(atoms)           the instructions that "f32 to bf16" means
//   isFiller(atom)              whether it is an English word without a meaning for the search
//   instructions(atoms)         {opcodes, rest, guesses}: those that are named, exactly, in part or nearly, the other atoms,
//                               and what was guessed: [[word, name]]
//   asked(atoms, opcode, operands)  {modifiers, types, operands, swapped, unknown, notes}: each modifier and type as the
//                               list of names that it may be; `swapped` as in "f32 to bf16", where the result comes
//                               last; `ordered` where types follow dots, as PTX has them; `unknown` words, and notes
//                               on what was read as something else
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {opcodes, groups} = ptxspec.data, types = new Set(ptxspec.data.types);
  const others = new Set(search.data.otherTypes);
  // Some of them are opcodes and modifiers too, where they can be.
  const filler = new Set(("a an and any are as at available can could compile do does exist exists for from gpu gpus has have how i if in "
    + "instruction instructions instead is it me my need needs not of on or ptx required requires run should since support "
    + "supported supports that the there this to use using version versions what when where which will with work works "
    + "write about all between brought can't change changed changes difference do get gives mean means new return returns "
    + "we who why you").split(" "));
  // The summaries of types name formats by words such as bfloat16.
  const typeWords = search.data.entries.filter(([kind]) => kind === "type")
    .map(([, title, , text]) => [title.slice(1), new Set(text.toLowerCase().match(/\w+/g))]);

  const lower = text => text.toLowerCase();
  const isType = name => types.has(name) || others.has(name);

  search.isFiller = ({text, dotted, head}) => !dotted && !head && filler.has(lower(text));

  // The names that a word means among those of an opcode, or of all; `how` is "exactly", "loosely" or "nearly".
  function meaning({text, dotted}, opcode) {
    const own = search.names(opcode), word = lower(text);
    for (const names of [own, search.names(null)]) {
      if (names.includes(text)) {
        return {names: [text], how: "exactly"};
      }
      const found = names.filter(n => lower(n) === word);
      if (found.length) {
        return {names: found, how: "loosely"};
      }
    }
    const begun = word.length > 1 || dotted ? own.filter(n => lower(n).startsWith(word)) : [];
    if (isType(word) && !begun.length) {
      return {names: [word], how: "exactly"};
    }
    const meant = groups[word] ?? search.data.called[word]
      ?? (word.length > 3 && !begun.length ? typeWords.filter(([, words]) => words.has(word)).map(([name]) => name) : []);
    const kept = meant.filter(n => own.includes(n));
    const loose = [kept, meant, begun].find(names => names.length);
    if (loose) {
      return {names: loose, how: "loosely"};
    }
    const near = search.nearest(text, own);
    return near.length ? {names: near, how: "nearly"} : null;
  }

  search.instructions = atoms => {
    const is = a => !a.dotted && lower(a.text) in opcodes, found = atoms.filter(is);
    const clear = found.filter(a => a.head || !filler.has(lower(a.text)));
    let chosen = clear.length ? clear : found.slice(0, 1);
    // A modifier may have the same name as an instruction.
    const names = chosen.map(a => lower(a.text));
    const whose = names.find(o => names.some(n => n !== o && search.names(o).includes(n)));
    if (whose) {
      chosen = chosen.filter(a => !search.names(whose).includes(lower(a.text)));
    }
    if (chosen.length) {
      const rest = atoms.filter(a => !chosen.includes(a));
      return {opcodes: [...new Set(chosen.map(a => lower(a.text)))], rest, guesses: []};
    }
    const none = {opcodes: [], rest: atoms, guesses: []};
    const strange = atoms.filter(a => !search.isFiller(a) && !["exactly", "loosely"].includes(meaning(a, null)?.how));
    const first = strange.find(a => a.head) ?? strange.find(a => !a.dotted);
    if (!first || first.text.length < 2) {
      return none;
    }
    const known = Object.keys(opcodes), begun = known.filter(o => o.startsWith(lower(first.text)));
    const rest = atoms.filter(a => a !== first);
    if (begun.length && begun.length < 4) {
      return {opcodes: begun, rest, guesses: []};
    }
    const near = search.nearest(first.text, known);
    return near.length ? {opcodes: near, rest, guesses: near.map(name => [first.text, name])} : none;
  };

  // Where "to" is between two types and no instruction is named, one that converts is meant.
  search.converting = atoms => isSwapped(atoms, null) ? search.data.words.convert ?? [] : [];

  function isSwapped(atoms, opcode) {
    const place = atoms.findIndex(a => !a.dotted && lower(a.text) === "to");
    const isOne = a => a && meaning(a, opcode)?.names.some(isType);
    return place > 0 && isOne(atoms[place - 1]) && isOne(atoms[place + 1]);
  }

  search.asked = (atoms, opcode, operands) => {
    const found = {modifiers: [], types: [], operands, swapped: isSwapped(atoms, opcode), ordered: true, unknown: [], notes: []};
    for (const atom of atoms) {
      if (search.isFiller(atom) && !(opcode && search.names(opcode).includes(lower(atom.text)))) {
        continue;
      }
      const meant = meaning(atom, opcode);
      if (!meant) {
        found.unknown.push(atom.text);
        continue;
      }
      const {names, how} = meant;
      if (how === "nearly") {
        found.notes.push(`\u201c${atom.text}\u201d read as .${names[0]}`);
      } else if (atom.dotted && names.length === 1 && names[0] !== atom.text && lower(names[0]) === lower(atom.text)) {
        found.notes.push(`PTX writes .${names[0]}, not .${atom.text}`);
      }
      const kinds = names.filter(isType), kind = kinds.length ? "types" : "modifiers", choices = kinds.length ? kinds : names;
      found.ordered &&= kind === "modifiers" || atom.dotted;
      const again = kind === "modifiers" && found.modifiers.some(c => c.length === 1 && c[0] === choices[0]);
      if (!again) {
        found[kind].push(choices);
      }
    }
    return found;
  };
})();
