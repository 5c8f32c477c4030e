// The variants of an opcode: from the manual's notation of them all at once, and by what somebody writes.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {nearestName} = exact;

  // All spellings that a notation such as {.ftz}.{f16,f16x2} stands for.
  function expand(text, groups) {
    const levels = [[""]];
    for (const [token, choice, name] of text.matchAll(/\.\{([^{}]*)\}|\.([\w:]+)|[{}]/g)) {
      if (token === "{") {
        levels.push([""]);
        continue;
      }
      const names = (choice ?? name ?? "").split(",").flatMap(n => groups[n] ?? [n]);
      const here = token === "}" ? ["", ...levels.pop()] : names.map(n => `.${n}`);
      levels.push(levels.pop().flatMap(begun => here.map(more => begun + more)));
    }
    return levels[0];
  }

  // Registers of an operand, in the statement's order, each with what it holds.
  const registersOf = (operands, types) => operands.flatMap(operand => {
    const {name, type, registers = [name], braced, negatable, implicit = null, constant} = operand;
    return registers.map(register => ({
      name: register,
      operand: name,
      type,
      kind: types[type].kind.name,
      sort: types[type].kind.sort,
      lanes: types[type].lanes,
      width: types[type].width,
      braced: Boolean(braced),
      negatable: Boolean(negatable),
      implicit,
      constant: Boolean(constant),
    }));
  });

  // Every variant, in the order of the families; those of a family have the same signature, claims and hazards.
  function variantsOf(data, types) {
    const signatures = data.signatures.map(s => ({
      ...s,
      registers: {sources: registersOf(s.sources, types), results: registersOf(s.results, types)},
    }));
    return data.families.flatMap(family => {
      const signature = signatures[family.signature];
      const texts = family.texts.flatMap(text => expand(text, data.groups)).sort();
      return texts.map((text, place) => ({
        spelling: data.opcode + text,
        operands: signature.registers.sources.filter(r => !r.implicit).length,
        sources: signature.registers.sources,
        results: signature.registers.results,
        lanes: signature.lanes,
        claim: family.claim,
        names: text.split(".").slice(1),
        family,
        signature,
        place,
      }));
    });
  }

  const namesOf = text => text.trim().split(".").filter(Boolean);

  // Finds variants by spellings with their modifiers in any order, and those most like others.
  class Finder {
    constructor(opcode, variants, types) {
      this.opcode = opcode;
      this.variants = variants;
      this.types = types;
      this.byKey = new Map();
      for (const v of variants) {
        const [, ...names] = namesOf(v.spelling);
        const key = this.key(names);
        this.byKey.set(key, [...(this.byKey.get(key) ?? []), v].sort((x, y) => x.operands - y.operands));
      }
      this.names = [...new Set(variants.flatMap(v => namesOf(v.spelling).slice(1)))];
    }

    isType(name) {
      return Object.hasOwn(this.types, name);
    }

    key(names) {
      const modifiers = names.filter(n => !this.isType(n)).sort();
      return `${modifiers.join(".")} ${names.filter(n => this.isType(n)).join(".")}`;
    }

    // The variant with this many source registers; without a count, the one with the fewest; null where there is none.
    find(text, operands) {
      const [opcode, ...names] = namesOf(text);
      const alike = (opcode === this.opcode && this.byKey.get(this.key(names))) || [];
      return (operands ? alike.find(v => v.operands === operands) : alike[0]) ?? null;
    }

    // The spellings most like a text: those with the fewest names too many or too few, types in their places. None
    // whose machine code does not do what it says.
    nearest(text, count = 3) {
      const [opcode, ...written] = namesOf(text);
      const rest = opcode === this.opcode || !this.names.includes(opcode) ? written : [opcode, ...written];
      const names = rest.map(n => (this.names.includes(n) ? n : nearestName(n, this.names) ?? n));
      const asked = new Set(names.filter(n => !this.isType(n)));
      const types = names.filter(n => this.isType(n));
      const distance = v => {
        const [, ...own] = namesOf(v.spelling);
        const has = own.filter(n => this.isType(n));
        const modifiers = own.filter(n => !this.isType(n));
        const wrong = modifiers.filter(n => !asked.has(n)).length;
        const lost = [...asked].filter(n => !modifiers.includes(n)).length;
        const misplaced = Math.max(has.length, types.length) - has.filter((t, i) => t === types[i]).length;
        return wrong + 2 * lost + 2 * misplaced;
      };
      const safe = this.variants.filter(v => !v.family.hazard);
      const found = safe.map(v => [distance(v), v.spelling]).sort(([x], [y]) => x - y);
      return [...new Set(found.map(([, spelling]) => spelling))].slice(0, count);
    }
  }

  Object.assign(exact, {Finder, variantsOf});
})();
