// What exists where, for every script of the manual. catalog.data.js gives `ptxspec.data`; this file adds
//   ptxspec.expand(notation)          all spellings that a notation such as max{.ftz}.{f16,f16x2} stands for
//   ptxspec.key(spelling)             the same text for all orders of its modifiers
//   ptxspec.rows                      [{opcode, texts, operands, requires, claim, hazards, claims, spellings()}]:
//                                     variants of an opcode with the same requirements and promises; `operands` is null
//                                     where the spelling alone tells variants apart; `requires` is in words, as
//                                     ptxspec.data.requirements has it; `claims` are those that differ by target
//   ptxspec.find(spelling, operands)  the rows that have a variant; its modifiers may be in any order
//   ptxspec.window(row, target)       [first, last] PTX versions that give a target what a row or a recipe requires,
//                                     `last` null where there is none; null where no version does
//   ptxspec.hazardsOn(row, target)    what the machine code there does instead of what the spelling says: texts
//   ptxspec.released(version)         a PTX version with the CUDA release that introduced it
//   ptxspec.claimOn(row, target)      what the emulator promises about the row's variants there
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {groups, targets, versions, opcodes, requirements} = ptxspec.data;

  ptxspec.expand = text => {
    const levels = [[""]];
    for (const [token, choice, name] of text.matchAll(/\.\{([^{}]*)\}|\.([\w:]+)|[{}]|\w+/g)) {
      if (token === "{") {
        levels.push([""]);
        continue;
      }
      let here = [token];
      if (token === "}") {
        here = ["", ...levels.pop()];
      } else if (token.startsWith(".")) {
        here = (choice ?? name).split(",").flatMap(n => groups[n] ?? [n]).map(n => "." + n);
      }
      levels.push(levels.pop().flatMap(begun => here.map(more => begun + more)));
    }
    return levels[0];
  };

  // The order of modifiers does not matter, that of types does; types are never modifiers.
  const types = new Set(ptxspec.data.types);
  function key(spelling) {
    const [opcode, ...names] = spelling.split(".");
    const end = names.findIndex(n => types.has(n));
    const modifiers = end < 0 ? names : names.slice(0, end);
    return [opcode, ...modifiers.sort(), ...(end < 0 ? [] : names.slice(end))].join(".");
  }
  ptxspec.key = key;

  ptxspec.rows = Object.entries(opcodes).flatMap(([opcode, {rows}]) =>
    rows.map(([texts, operands, requires, claim, hazards, claims]) => {
      let spellings = null;
      return {
        opcode, texts, operands, requires, claim, hazards, claims,
        spellings: () => (spellings ??= texts.flatMap(ptxspec.expand)),
      };
    }));

  const byOpcode = new Map();
  function keys(opcode) {
    if (!byOpcode.has(opcode)) {
      const found = new Map();
      for (const row of ptxspec.rows.filter(r => r.opcode === opcode)) {
        for (const spelling of row.spellings()) {
          const k = key(spelling);
          found.set(k, [...(found.get(k) ?? []), row]);
        }
      }
      byOpcode.set(opcode, found);
    }
    return byOpcode.get(opcode);
  }

  ptxspec.find = (spelling, operands = null) =>
    (keys(spelling.split(".")[0]).get(key(spelling)) ?? [])
      .filter(row => operands === null || row.operands === null || row.operands === operands);

  const places = new Map(targets.map((t, i) => [t.name, i]));

  ptxspec.window = (row, target) => {
    // Runs of targets with the same versions: [first, how many targets, last].
    let left = places.get(target);
    const [first, , last = null] = requirements[row.requires].find(([, count]) => (left -= count) < 0);
    return first && [first, last];
  };

  ptxspec.released = version => {
    const {cuda} = versions.find(v => v.ptx === version);
    return cuda ? `${version} (CUDA ${cuda})` : version;
  };

  ptxspec.hazardsOn = (row, target) =>
    Object.entries(row.hazards).filter(([, on]) => on.includes(target)).map(([text]) => text);

  ptxspec.claimOn = (row, target) =>
    Object.entries(row.claims).find(([, on]) => on.includes(target))?.[0] ?? row.claim;
})();
