// The operands that are worth trying: where rounding, flushing, overflow and NaN rules show.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {ones} = exact;

  // Encodings of a float's magnitudes by name, the smallest first; without those that a format does not have.
  function magnitudes(f) {
    const one = BigInt(f.bias) << f.fraction;
    const found = [
      ["0", f.hasZero, 0n],
      ["least subnormal", f.hasSubnormals && f.leastNormal > 1n, 1n],
      ["most subnormal", f.hasSubnormals && f.leastNormal > 2n, f.leastNormal - 1n],
      ["least normal", true, f.leastNormal],
      ["1", one <= f.largest, one],
      ["largest", true, f.largest],
      ["inf", f.hasInfinity, f.infinity],
      ["NaN", f.nans > 0n, f.canonicalNan & (f.magnitudes - 1n)],
      ["sNaN", f.isIeee, f.firstNan],
    ];
    const held = found.filter(([, there]) => there);
    // In a small format the least normal number may be 1.
    return held.filter(([, , bits], i) => bits !== held[i + 1]?.[2]).map(([label, , bits]) => ({label, bits}));
  }

  function valuesOf({format: f, fixed, sort, width}) {
    if (f) {
      const positive = magnitudes(f);
      const isNumber = ({bits}) => !f.isNaN(bits);
      const negative = f.signed ? positive.filter(isNumber).reverse() : [];
      const minus = ({label, bits}) => ({label: `-${label}`, bits: bits | f.signBit});
      const plus = x => (f.signed && isNumber(x) ? {...x, label: `+${x.label}`} : x);
      return [...negative.map(minus), ...positive.map(plus)];
    }
    if (sort === "bool") {
      return [{label: "true", bits: 1n}, {label: "false", bits: 0n}];
    }
    if (fixed) {
      const whole = 1n << BigInt(fixed.point);
      const values = [["least", fixed.least], ["-1", -whole], ["0", 0n], ["1", whole], ["largest", fixed.largest]];
      const held = values.filter(([label, x], i) => x >= fixed.least && (i === 0 || label !== "0" || fixed.signed));
      return held.map(([label, x]) => ({label, bits: fixed.encode(x)}));
    }
    const all = ones(width);
    return [["no bit", 0n], ["lowest bit", 1n], ["highest bit", 1n << BigInt(width - 1)], ["all bits", all]]
      .map(([label, bits]) => ({label, bits}));
  }

  // For each source register the values with all lanes alike.
  function specialsOf(variant, types) {
    return variant.sources.map(({name, type}) => {
      const {kind, lanes} = types[type];
      const packed = bits => types[type].pack(Array.from({length: lanes}, () => bits));
      return {name, values: valuesOf(kind).map(({label, bits}) => ({label, bits: packed(bits)}))};
    });
  }

  Object.assign(exact, {specialsOf});
})();
