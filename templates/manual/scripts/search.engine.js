// The search itself: what a query means, and what answers it. Adds to `ptxspec.search`
//   ask(query)  [{kind, answer, title, text, link}], best first: a verdict where it asks for one, else what is called
//               so, begins so, has all the words, or is nearly spelled so
//   steps()     what makes everything ready for the first query, in parts that take little time each
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {opcodes, groups} = ptxspec.data, types = new Set(ptxspec.data.types);
  const most = 12;
  // English words that say nothing of what is asked for. Some are opcodes and modifiers too, where they can be.
  const said = new Set(("a an and any are as at available can could compile do does exist exists for from gpu gpus has have how i if in "
    + "instruction instructions instead is it me my need needs not of on or ptx required requires run should since support "
    + "supported supports that the there this to use using version versions what when where which will with work works "
    + "write").split(" "));
  // The summaries of types name formats by words such as bfloat16.
  const typeWords = new Map(search.data.entries.filter(([kind]) => kind === "type")
    .map(([, title, , text]) => [title.slice(1), new Set(text.split(" In ")[0].toLowerCase().match(/\w+/g))]));

  const lower = text => text.toLowerCase();
  const same = (names, text) => names.filter(n => lower(n) === lower(text));

  // What a word means among the modifiers and types of an opcode, or of all: [names, whether that was guessed].
  function meaning(text, opcode, dotted) {
    const own = search.names(opcode), every = search.names(null);
    for (const names of [own, every]) {
      const found = names.includes(text) ? [text] : same(names, text);
      if (found.length) {
        return [found, false];
      }
    }
    if (search.data.otherTypes.includes(lower(text)) || types.has(lower(text))) {
      return [[lower(text)], false];
    }
    if (lower(text) in groups) {
      return [groups[lower(text)], false];
    }
    if (/^fp\d/i.test(text)) {
      return meaning(text.slice(1).replace(/^p/i, "f"), opcode, dotted);
    }
    const begun = text.length > 1 || dotted ? own.filter(n => lower(n).startsWith(lower(text))) : [];
    if (begun.length) {
      return [begun, false];
    }
    const meant = text.length > 3 ? [...typeWords].filter(([, words]) => words.has(lower(text))).map(([name]) => name) : [];
    const kept = meant.filter(n => own.includes(n));
    if (kept.length || meant.length) {
      return [kept.length ? kept : meant, false];
    }
    const near = search.nearest(text, own);
    return near.length ? [near, true] : [null, false];
  }

  // The opcodes among words, the place of each, and what is left of the words.
  function instructions(atoms) {
    const is = a => !a.dotted && lower(a.text) in opcodes;
    const found = atoms.filter(is), clear = found.filter(a => a.head || !said.has(lower(a.text)));
    let chosen = clear.length ? clear : found.slice(0, 1);
    const names = chosen.map(a => lower(a.text));
    // A modifier may be called as an instruction is.
    const whose = names.find(o => names.some(n => n !== o && search.names(o).includes(n)));
    if (whose) {
      chosen = chosen.filter(a => !search.names(whose).includes(lower(a.text)));
    }
    return {opcodes: [...new Set(chosen.map(a => lower(a.text)))], rest: atoms.filter(a => !chosen.includes(a))};
  }

  // An opcode that a word begins, or nearly is: [opcodes, whether that was guessed].
  function guessed(atoms) {
    const first = atoms.find(a => !a.dotted);
    if (!first || first.text.length < 2 || (!first.head && said.has(lower(first.text)))) {
      return [[], false, atoms];
    }
    const known = Object.keys(opcodes), begun = known.filter(o => o.startsWith(lower(first.text)));
    const rest = atoms.filter(a => a !== first);
    if (begun.length && begun.length < 4) {
      return [begun, false, rest];
    }
    const near = search.nearest(first.text, known);
    return [near.slice(0, 3), true, near.length ? rest : atoms];
  }

  function asked(atoms, opcode, operands, swapped) {
    const found = {modifiers: [], types: [], operands, swapped, unknown: [], corrected: []};
    for (const {text, dotted, head} of atoms) {
      if (!dotted && !head && said.has(lower(text)) && !(opcode && search.names(opcode).includes(lower(text)))) {
        continue;
      }
      const [names, guess] = meaning(text, opcode, dotted);
      if (!names) {
        found.unknown.push(text);
        continue;
      }
      if (guess) {
        found.corrected.push([text, names[0]]);
      }
      const kinds = names.filter(n => types.has(n) || search.data.otherTypes.includes(n));
      const isType = kinds.length > 0 && (kinds.length === names.length || !names.some(n => n === text));
      const choices = isType ? kinds : names.filter(n => !kinds.includes(n));
      if (!isType && found.modifiers.some(c => c.length === 1 && c[0] === choices[0])) {
        continue;
      }
      found[isType ? "types" : "modifiers"].push(choices);
    }
    return found;
  }

  // Words such as "f32 to e4m3x2": PTX writes the result first.
  function isSwapped(atoms, opcode) {
    const place = atoms.findIndex(a => !a.dotted && lower(a.text) === "to");
    const isType = a => a && meaning(a.text, opcode, false)[0]?.some(n => types.has(n));
    return place > 0 && isType(atoms[place - 1]) && isType(atoms[place + 1]);
  }

  function named({title, text, link, kind, hazard}) {
    return {title, text, link, kind, answer: "", hazard: hazard || kind === "hazard"};
  }

  function unknownPlaces(unknown) {
    return unknown.map(({text, meant}) => ({
      kind: "verdict", answer: "no", title: `There is no ${text}`, link: "history.html",
      text: meant.length ? `Did you mean ${meant.slice(0, 4).join(", ")}?` : "It is not among the targets and versions that this manual knows.",
    }));
  }

  function pairs(places) {
    const byName = new Map(ptxspec.data.targets.map(t => [t.name, t]));
    return places.filter(p => p.target && p.ptx).map(({target, ptx, called}) => {
      const name = called ? `${target} (${called})` : target, knows = search.knows(target, ptx);
      return {
        kind: "verdict", answer: knows ? "yes" : "no", link: `history.html#${target}`, text: "",
        title: knows ? `PTX ${ptx} knows ${name}, which came with PTX ${byName.get(target).ptx}`
          : `PTX ${ptx} does not know ${name}, which came with PTX ${byName.get(target).ptx}`,
      };
    });
  }

  function placed(places) {
    return places.flatMap(({target, ptx}) => [...(target ? [target] : []), ...(ptx ? [`PTX ${ptx}`] : [])])
      .flatMap(name => search.entries(name).slice(0, 1)).map(named);
  }

  // The answers for an instruction, or for all that have what was asked.
  function answers(opcode, wanted, places) {
    const {modifiers, types: kinds} = wanted;
    if (opcode) {
      return places.length ? places.flatMap(p => search.verdicts(opcode, wanted, p)) : search.described(opcode, wanted);
    }
    if (!modifiers.length && !kinds.length) {
      return [];
    }
    return (places.length ? places : [{target: null, ptx: null}]).flatMap(p => {
      const {only, results} = search.across(wanted, p);
      return only ? answers(only, wanted, p.target || p.ptx ? [p] : []) : results ?? [];
    });
  }

  function distinct(results) {
    const seen = new Set();
    return results.filter(({title, link}) => {
      const key = `${title} ${link}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  function told(wanted, opcodeGuess) {
    const corrected = [...opcodeGuess, ...wanted.corrected].map(([text, name]) => `\u201c${text}\u201d read as ${name}`);
    const unknown = wanted.unknown.map(text => `\u201c${text}\u201d is nothing here, and was left out`);
    return [...corrected, ...unknown].join("; ");
  }

  search.ask = query => {
    const all = search.atoms(query.trim());
    if (!all.length) {
      return [];
    }
    const {places, operands, rest, unknown} = search.places(all);
    const entries = search.entries(query).map(e => ({...named(e), level: e.level}));
    let {opcodes: meant, rest: words} = instructions(rest), guess = false;
    const plain = words.filter(a => a.head || a.dotted || !said.has(lower(a.text)));
    const isBare = !meant.length && plain.every(a => meaning(a.text, null, a.dotted)[0] && !meaning(a.text, null, a.dotted)[1]);
    let guesses = [];
    if (!meant.length && !isBare) {
      const first = plain.find(a => !a.dotted);
      [meant, guess, words] = guessed(plain);
      guesses = guess && meant.length ? [[first.text, meant[0]]] : [];
    }
    const subjects = meant.length ? meant : [null];
    const found = subjects.slice(0, 3).map(opcode => {
      const wanted = asked(words, opcode, operands, isSwapped(words, opcode));
      const isFamily = wanted.modifiers.length || wanted.types.length || operands !== null;
      const results = opcode && !isFamily && !places.length ? [] : answers(opcode, wanted, places);
      const note = told(wanted, guesses);
      return {sure: !note, results: note ? results.map((r, i) => i ? r : {...r, text: `${note}. ${r.text}`}) : results};
    });
    const sure = found.filter(f => f.sure).flatMap(f => f.results);
    const unsure = found.filter(f => !f.sure).flatMap(f => f.results);
    const best = entries.filter(e => e.level === 5), good = entries.filter(e => e.level > 1), poor = entries.filter(e => e.level === 1);
    const context = [...meant.flatMap(o => search.entries(o).filter(e => e.kind === "opcode" && e.level === 5)).map(named), ...placed(places)];
    const wholly = meant.length || places.length ? [] : best;
    return distinct([
      ...unknownPlaces(unknown), ...wholly, ...(sure.length ? [] : pairs(places)), ...(sure.length ? [] : best), ...sure,
      ...good, ...unsure, ...(sure.length || unsure.length || places.length || best.length ? context : []), ...poor,
    ]).slice(0, most);
  };

  search.steps = () => [...Object.keys(opcodes).map(opcode => () => search.names(opcode)), () => search.ask("fma f32")];
})();
