// The search itself. Adds to `ptxspec.search`
//   ask(query)  [{kind, answer, title, text, link, hazard}], best first: a verdict where the query asks for one, else
//               entries whose name is the query, begins with it, has all its words, or is spelled nearly like it
//   steps()     short functions that prepare everything for the first query
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {opcodes} = ptxspec.data, most = 12;
  const byName = new Map(ptxspec.data.targets.map(t => [t.name, t]));
  const anywhere = {target: null, ptx: null};

  const shown = ({title, text, link, kind}) => ({title, text, link, kind, answer: "", hazard: kind === "hazard"});

  function strange(unknown) {
    return unknown.map(({text, meant}) => ({
      kind: "verdict", answer: "no", title: `${text} is unknown`, link: "history.html", hazard: false,
      text: meant.length ? `Did you mean ${meant.slice(0, 4).join(", ")}?` : "The history page lists all targets and PTX versions.",
    }));
  }

  // The PTX version that a CUDA release without one of its own supports.
  function released(releases) {
    return releases.filter(({text}) => !ptxspec.data.versions.some(v => v.cuda === text)).map(({text, ptx}) => ({
      kind: "CUDA", answer: "", title: `CUDA ${text} supports PTX up to ${ptx}`, link: `history.html#ptx-${ptx}`,
      text: `PTX ${ptx} is the newest version in that release.`, hazard: false,
    }));
  }

  // Whether a PTX version knows a target, where nothing else was asked.
  function pairs(places) {
    return places.filter(p => p.target && p.ptx).map(({target, ptx, called}) => {
      const name = called ? `${target} (${called})` : target, knows = search.knows(target, ptx);
      return {
        kind: "verdict", answer: knows ? "yes" : "no", link: `history.html#${target}`, text: "", hazard: false,
        title: `PTX ${ptx} ${knows ? "supports" : "does not support"} ${name}, which requires PTX ${byName.get(target).ptx}`,
      };
    });
  }

  // The pages of the instructions and places that are named.
  function context(opcodesMeant, places) {
    const names = places.flatMap(({target, ptx}) => [...(target ? [target] : []), ...(ptx ? [`PTX ${ptx}`] : [])]);
    return [...opcodesMeant, ...new Set(names)].flatMap(name => search.entries(name).slice(0, 1)).map(shown);
  }

  function answers(opcode, wanted, places, spelled) {
    if (!opcode) {
      if (!wanted.modifiers.length && !wanted.types.length) {
        return [];
      }
      return (places.length ? places : [anywhere]).flatMap(place => {
        const {only, results} = search.across(wanted, place);
        return only ? answers(only, wanted, place === anywhere ? [] : [place], false) : results ?? [];
      });
    }
    const whole = spelled ? search.incomplete(opcode, wanted) : [];
    if (!places.length) {
      return [...whole, ...search.described(opcode, wanted)];
    }
    const each = places.map(place => search.verdicts(opcode, wanted, place));
    if (places.length < 3) {
      return [...whole, ...each.flatMap(results => places.length > 1 ? results.slice(0, 4) : results)];
    }
    return [...whole, ...search.overview(opcode, wanted, places), ...each.map(([first]) => first)];
  }

  function distinct(results) {
    const seen = new Set();
    return results.filter(({title, link}) => {
      const key = `${title} ${link}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  // The entries that a query names, with or without its English words.
  function entriesOf(query, atoms) {
    const found = search.entries(query), words = query.split(/\s+/);
    const plain = words.filter(word => !search.isFiller({text: word.replace(/[^\w.:-]/g, ""), dotted: false, head: false}));
    if (found.some(e => e.level > 2) || plain.length === words.length || !plain.length) {
      return found;
    }
    const more = search.entries(plain.join(" "));
    return more.some(e => e.level > 1) || !found.length ? more : found;
  }

  // Results about the instructions that atoms name: sure ones, ones for which words were ignored or guessed, and pages.
  function instructed(rest, places, operands) {
    const {opcodes: said, rest: words, guesses} = search.instructions(rest);
    const meant = said.length ? said : search.converting(words);
    let sure = [], unsure = [], pages = [];
    for (const opcode of meant.length ? meant.slice(0, 3) : [null]) {
      const wanted = search.asked(words, opcode, operands);
      const isFamily = wanted.modifiers.length || wanted.types.length || operands !== null;
      if (opcode && !isFamily && !places.length && !wanted.unknown.length) {
        const [read] = guesses.filter(([, name]) => name === opcode).map(([text]) => `\u201c${text}\u201d read as ${opcode}. `);
        // The name of an instruction alone.
        pages = [...pages, ...context([opcode], []).map(r => ({...r, text: (read ?? "") + r.text}))];
        continue;
      }
      const head = rest.find(a => a.head && !a.dotted), named = words.filter(a => !search.isFiller(a));
      const spelled = !!head && !guesses.length && named.every(a => a.word === head.word) && wanted.types.length > 0;
      const results = answers(opcode, wanted, places, spelled);
      const strangers = wanted.unknown.map(text => `\u201c${text}\u201d`), several = strangers.length > 1;
      const left = strangers.length ? [`${strangers.join(" and ")} ${several ? "are unknown and were" : "is unknown and was"} ignored`] : [];
      const read = guesses.filter(([, name]) => name === opcode).map(([text, name]) => `\u201c${text}\u201d read as ${name}`);
      const note = [...read, ...wanted.notes, ...left].join("; ");
      const noted = note ? results.map((r, i) => i ? r : {...r, text: `${note}. ${r.text}`.trim()}) : results;
      if (wanted.unknown.length || read.length) {
        unsure = [...unsure, ...noted];
      } else {
        sure = [...sure, ...noted];
      }
    }
    return {sure, unsure, pages, meant};
  }

  search.ask = typed => {
    const given = typed.trim().slice(0, 200), phrase = search.phrase(given);
    if (phrase && search.atoms(phrase.rest).every(search.isFiller)) {
      const found = search.entries(phrase.name);
      if (found[0]?.level === 5) {
        return distinct(found.filter(e => e.level > 1).map(shown)).slice(0, most);
      }
    }
    const query = phrase?.meant ?? given, atoms = search.atoms(query);
    if (!atoms.length) {
      return [];
    }
    const {places, operands, rest: words, unknown, releases} = search.places(atoms);
    const {results: others, rest: named, begun} = search.others(words, places);
    let sure = [], unsure = [], pages = [], meant = [];
    const rest = named.filter(a => !search.isFiller(a));
    for (const words of search.meant(named)) {
      const found = instructed(words, places, operands);
      sure = [...sure, ...found.sure];
      unsure = [...unsure, ...found.unsure];
      pages = [...pages, ...found.pages];
      meant = [...new Set([...meant, ...found.meant])];
    }
    const entries = entriesOf(query, atoms), at = (least, greatest) => entries.filter(e => e.level >= least && e.level <= greatest).map(shown);
    const best = at(5, 5), good = at(2, 4);
    const near = at(1, 1).slice(0, 4).map(e => ({...e, text: `Did you mean this? ${e.text}`.trim()}));
    const first = meant.length || places.length ? [] : best, alone = others.length ? [] : [...released(releases), ...pairs(places)];
    const isTitle = best.some(e => ["page", "section"].includes(e.kind)) && /\s/.test(query);
    const isLost = !others.length && !places.length && !sure.length && !pages.length && !good.length && !begun.length && !near.length && !alone.length;
    const partly = isLost ? search.partly(rest.map(a => a.text)).map(shown) : [];
    return distinct([
      ...strange(unknown), ...(isTitle ? best : []), ...others, ...first, ...(sure.length || unsure.length ? [] : alone), ...(sure.length ? [] : best), ...pages, ...sure, ...(unsure.length && !sure.length && places.length ? unsure : []), ...good, ...begun, ...partly, ...(places.length || !at(3, 4).length ? unsure : []),
      ...(sure.length || unsure.length || places.length ? context(sure.length || unsure.length ? meant.slice(0, 3) : [], places) : []),
      ...(others.length || sure.length || unsure.length || pages.length || alone.length ? [] : near),
    ]).slice(0, most);
  };

  search.steps = () => [...Object.keys(opcodes).map(opcode => () => search.names(opcode)), () => search.ask("f32")];
})();
