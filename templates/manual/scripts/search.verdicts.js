// Verdicts in words. A result is {kind, answer, title, text, link}: `answer` is "yes", "no", "some", "outside" (not in
// this manual) or nothing. Adds to `ptxspec.search`
//   verdicts(opcode, asked, place)  results that say whether a place supports what was asked, the verdict first
//   described(opcode, asked)        results that say what it requires, where no place was named
//   across(asked, place)            results that say which instructions have it
//   overview(opcode, asked, places) one result that says which of several places support it
//   address(variant)                the link to a variant
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {targets, opcodes} = ptxspec.data;
  const byName = new Map(targets.map((t, i) => [t.name, {...t, order: i}]));
  const shown = 5;

  search.address = v => `${v.opcode}.html#${v.spelling}${v.row?.operands ? `-${v.operands}` : ""}`;

  const listed = (words, last = "and") =>
    words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
  const on = ({target, called}) => called ? `${target} (${called})` : target;
  function where(place) {
    const version = place.ptx ? `PTX ${place.ptx}` : "";
    return place.target ? `on ${on(place)}${version && ` with ${version}`}` : `in ${version}`;
  }
  const from = ([first, last]) => last ? `with PTX ${first}${first === last ? "" : ` to ${last}`} only` : `from PTX ${ptxspec.released(first)} on`;

  // The kinds of a target's base that accept a variant, with the first PTX version of each.
  function siblings(variants, target) {
    const base = byName.get(target).base || target, found = new Map();
    const rows = [...new Set(variants.map(v => v.row).filter(Boolean))];
    for (const t of targets.filter(t => t.name !== target && [t.name, t.base].includes(base))) {
      const firsts = rows.map(row => ptxspec.window(row, t.name)?.[0]).filter(Boolean);
      if (firsts.length) {
        found.set(t.name, firsts.reduce((a, b) => search.ordered(a) <= search.ordered(b) ? a : b));
      }
    }
    return found;
  }
  const told = found => listed([...found].map(([name, first]) => `on ${name} from PTX ${ptxspec.released(first)}`));

  // Where a hazard applies, if not wherever the variant exists, as in " on sm_70 and sm_72".
  function somewhere(v, place) {
    const {on, all, last} = search.risky(v, place);
    if (all || place.target) {
      return "";
    }
    return last ? ` from ${on[0]} on` : ` on ${listed(on.length > 4 ? [...on.slice(0, 3), `${on.length - 3} others`] : on)}`;
  }

  // What a verdict says about a variant, and what more there is to say. Queries give the reason for a "no".
  function said(v, place, many) {
    const is = many ? "are" : "is", {target, ptx} = place;
    if (v.crash) {
      return {answer: "no", says: `${is} not available on any target`, text: v.crash};
    }
    const window = target && ptxspec.window(v.row, target);
    if (!search.takes(v, place)) {
      const more = target && !window ? siblings([v], target) : new Map();
      const but = window ? `, but ${from(window)}` : more.size ? `, but ${told(more)}` : "";
      return {answer: "no", says: `${is} not available ${where(place)}${but}`, text: `Requires ${v.row.requires}.`};
    }
    const hazards = search.hazards(v, place);
    const more = hazards.length ? `Hazard${somewhere(v, place)}: ${hazards.join(" ")}` : "";
    if (!target) {
      return {answer: "yes", says: `${is} available ${where(place)}`, text: more || `Requires ${v.row.requires}.`, hazard: !!more};
    }
    const since = from(window);
    return ptx ? {answer: "yes", says: `${is} available ${where(place)}`, text: more || `${since[0].toUpperCase()}${since.slice(1)}.`, hazard: !!more}
      : {answer: "yes", says: `${is} available ${where(place)}, ${since}`, text: more, hazard: !!more};
  }

  // Variants with the same answer are one group.
  function grouped(variants, key) {
    const found = new Map();
    for (const v of variants) {
      const k = key(v);
      if (!found.has(k)) {
        found.set(k, []);
      }
      found.get(k).push(v);
    }
    return [...found.values()];
  }

  const spelled = (v, all) => all.some(w => w !== v && w.spelling === v.spelling)
    ? `${v.spelling} (${v.operands} operands)` : v.spelling;

  function recipes(group, place, label) {
    const found = group.map(v => search.recipe(v, place)).filter(Boolean);
    if (!found.length) {
      return [];
    }
    // What may differ is reported as `ptxspec query` reports it.
    const words = {"NaN bits": "except for the bits of a NaN", "within bound": "within the variant's error bound"};
    const differs = [...new Set(found.map(r => words[r.differs] ?? (r.differs.startsWith("as on ") ? `bit for bit ${r.differs}` : "")).filter(Boolean))];
    const text = differs.length ? `Computes the same, ${listed(differs, "or")}.` : "Computes the same, bit for bit.";
    const some = found.length < group.length ? ` For ${found.length} of ${group.length} variants.` : "";
    return [{
      kind: "recipe", answer: "", title: `What to write instead of ${label} ${where(place)}`, text: text + some,
      link: `${group[0].opcode}.html#recipes`,
    }];
  }

  // `helped`: with what to write instead.
  function result(group, asked, place, all, helped) {
    const label = group.length > 1 ? search.label(group, asked) : spelled(group[0], all);
    const {answer, says, text, hazard} = said(group[0], place, group.length > 1);
    const verdict = {
      kind: "verdict", answer, title: `${label} ${says}`, text, hazard: !!hazard, link: search.address(group[0]),
      spelling: group[0].spelling, operands: group[0].operands,
    };
    return [verdict, ...(answer === "no" && helped ? recipes(group, place, label) : [])];
  }

  // What was asked for, each name of which may be one of several.
  function wanted({modifiers, types}) {
    return [...modifiers, ...types].map(choices => {
      const more = choices.length > 4 ? [`${choices.length - 3} others`] : [];
      return listed([...(more.length ? choices.slice(0, 3) : choices).map(n => `.${n}`), ...more], "or");
    });
  }

  function family(opcode, asked) {
    const names = wanted(asked);
    return names.length ? `${opcode} with ${listed(names)}` : opcode;
  }

  function headline(opcode, asked, variants, place) {
    const there = variants.filter(v => search.takes(v, place)), name = family(opcode, asked);
    const simple = found => found.reduce((a, b) => b.modifiers.length < a.modifiers.length ? b : a);
    const base = {kind: "verdict", link: search.address(simple(there.length ? there : variants)), spelling: null};
    if (there.length === variants.length) {
      return {...base, answer: "yes", title: `Every variant of ${name} is available ${where(place)}`, text: `${variants.length} variants.`};
    }
    if (there.length) {
      const text = `${there.length} of ${variants.length} variants: ${search.label(there, asked)}.`;
      return {...base, answer: "some", title: `Some variants of ${name} are available ${where(place)}`, text};
    }
    const more = place.target ? siblings(variants, place.target) : new Map();
    const because = more.size ? `, but ${told(more)}` : "";
    return {...base, answer: "no", title: `No variant of ${name} is available ${where(place)}${because}`, text: `${variants.length} variants.`};
  }

  const fewest = group => Math.min(...group.map(v => v.modifiers.length));

  search.verdicts = (opcode, asked, place) => {
    const {exact, near, far} = search.fitting(opcode, asked);
    const all = [...exact, ...near, ...far];
    if (!all.length) {
      return search.missing(opcode, asked);
    }
    // Only its row says what the answer is.
    const rows = new Map();
    const key = v => {
      const row = v.row ?? v.crash;
      if (!rows.has(row)) {
        const {answer, says, text} = said(v, place, false);
        rows.set(row, JSON.stringify([answer, says, text]));
      }
      return rows.get(row);
    };
    const groups = variants => grouped(variants, key).sort((a, b) => search.takes(b[0], place) - search.takes(a[0], place) || fewest(a) - fewest(b));
    const told = (variants, most, helped) =>
      groups(variants).slice(0, most).flatMap((g, i) => result(g, asked, place, all, helped && i < 2));
    if (exact.length) {
      return [...exact.flatMap(v => result([v], asked, place, all, true)), ...told(near, 3), ...told(far, 3)];
    }
    const main = near.length ? near : far, rest = near.length ? far : [];
    const several = groups(main).length > 1;
    return [...(several ? [headline(opcode, asked, main, place)] : []), ...told(main, shown, true), ...told(rest, 3)];
  };

  search.described = (opcode, asked) => {
    const {exact, near, far} = search.fitting(opcode, asked), all = [...exact, ...near, ...far];
    if (!all.length) {
      return search.missing(opcode, asked);
    }
    const anywhere = {target: null, ptx: null};
    const risks = group => search.hazards(group[0], anywhere);
    const warning = ([v]) => {
      const there = somewhere(v, anywhere);
      return there ? `Hazard${there}: do not use it there. ` : "Hazard: do not use it. ";
    };
    const one = (group, label) => ({
      kind: "variant", answer: "", title: label, link: search.address(group[0]),
      text: group[0].crash || `${risks(group).length ? warning(group) : ""}Requires ${group[0].row.requires}. Claim: ${group[0].row.claim}.`,
      hazard: risks(group).length > 0,
      spelling: group[0].spelling, operands: group[0].operands,
    });
    const groups = variants => grouped(variants, v => `${v.crash} ${v.row?.requires} ${v.row?.claim} ${risks([v]).join(" ")}`)
      .sort((a, b) => fewest(a) - fewest(b)).slice(0, shown)
      .map(g => one(g, g.length > 1 ? search.label(g, asked) : spelled(g[0], all)));
    return [...exact.map(v => one([v], spelled(v, all))), ...groups(near), ...(exact.length ? [] : groups(far))];
  };

  search.overview = (opcode, asked, places) => {
    const {exact, near, far} = search.fitting(opcode, asked), main = [exact, near, far].find(found => found.length);
    if (!main) {
      return [];
    }
    const name = exact.length ? exact[0].spelling : family(opcode, asked), of = test => places.filter(test).map(p => p.target);
    const there = p => main.filter(v => search.takes(v, p)).length;
    const yes = of(p => there(p) === main.length), some = of(p => there(p) > 0 && there(p) < main.length), none = of(p => !there(p));
    const kinds = none.flatMap(target => [...siblings(main, target).keys()]);
    const answer = !some.length && !none.length ? "yes" : yes.length || some.length ? "some" : "no";
    const parts = [
      ...(yes.length ? [`on ${listed(yes)}`] : []), ...(some.length ? [`some of it on ${listed(some)}`] : []),
      ...(none.length ? [`not on ${listed(none)}`] : []), ...(kinds.length ? [`but on ${listed(kinds)}`] : []),
    ];
    return [{kind: "verdict", answer, title: `${name}: ${parts.join("; ")}`, text: "", link: search.address(main[0]), hazard: false}];
  };

  // The matrix of availability with what was asked as its filters.
  function matrix({modifiers, types: kinds}, {target, ptx}) {
    const words = [...modifiers, ...kinds].filter(choices => choices.length === 1).map(([name]) => name);
    const state = new URLSearchParams();
    for (const [name, value] of [["q", words.join(" ")], ["target", target], ["ptx", ptx]]) {
      if (value) {
        state.set(name, value);
      }
    }
    return `availability.html#${state}`.replace(/#$/, "");
  }

  search.across = (asked, place) => {
    const found = Object.keys(opcodes).map(opcode => {
      const {exact, near, far} = search.fitting(opcode, asked), all = [...exact, ...near, ...far];
      return {opcode, all, there: all.filter(v => search.takes(v, place))};
    }).filter(({all}) => all.length);
    const names = wanted(asked);
    if (found.length < 2) {
      return {only: found[0]?.opcode ?? null, names};
    }
    const of = test => found.filter(test).map(({opcode}) => opcode);
    const whole = of(f => f.there.length === f.all.length), part = of(f => f.there.length && f.there.length < f.all.length);
    const none = of(f => !f.there.length), link = matrix(asked, place);
    if (!place.target && !place.ptx) {
      return {results: [{kind: "verdict", answer: "", title: `${listed(names)}: in ${listed(of(() => true))}`, text: "", link}]};
    }
    const answer = !none.length && !part.length ? "yes" : whole.length || part.length ? "some" : "no";
    const parts = [
      ...(whole.length ? [`in ${listed(whole)}`] : []),
      ...(part.length ? [`in some variants of ${listed(part)}`] : []),
      ...(none.length ? [`not in ${listed(none)}`] : []),
    ];
    const more = place.target ? siblings(found.flatMap(f => f.all.filter(v => !search.takes(v, place))), place.target) : new Map();
    // Whoever asks about a GPU can compile for its architecture- and family-specific targets, too: a "no" mentions them.
    const but = answer === "no" && more.size ? `, but ${told(more)}` : "";
    const besides = more.size && !but ? ` More variants are available ${told(more)}.` : "";
    return {results: [{
      kind: "verdict", answer, title: `${listed(names)} ${where(place)}: ${parts[0]}${but}`, link,
      text: (parts.slice(1).map(p => `${p[0].toUpperCase()}${p.slice(1)}.`).join(" ") + besides).trim(),
    }]};
  };
})();
