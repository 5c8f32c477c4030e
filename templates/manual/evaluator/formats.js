// The formats of numbers, the kinds of values and the types of registers, as spec/types.yaml declares them.
// Encodings and fractions are BigInt; widths and exponents are numbers.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});

  const ones = width => (1n << BigInt(width)) - 1n;

  // A binary floating-point format. From the largest magnitude down its encodings are NaNs, an infinity if it has one,
  // and numbers. No property of a format is IEEE 754's unless it is declared so.
  class Format {
    constructor(name, declared) {
      this.name = name;
      this.exponentBits = declared.exponent_bits;
      this.fractionBits = declared.fraction_bits;
      this.bias = declared.bias;
      this.nans = BigInt(declared.nans);
      this.canonicalNan = BigInt(declared.canonical_nan);
      this.overflow = declared.overflow;
      this.signed = declared.signed;
      this.hasZero = declared.zero;
      this.hasSubnormals = declared.subnormals;
      this.hasInfinity = declared.infinity;
      // Whether signaling NaNs are distinguished from quiet ones, as in IEEE 754.
      this.isIeee = declared.ieee;
      this.width = Number(this.signed) + this.exponentBits + this.fractionBits;
      this.precision = this.fractionBits + 1;
      this.fraction = BigInt(this.fractionBits);
      this.magnitudes = 1n << BigInt(this.exponentBits + this.fractionBits);
      this.signBit = this.signed ? this.magnitudes : 0n;
      this.firstNan = this.magnitudes - this.nans;
      this.infinity = this.hasInfinity ? this.firstNan - 1n : null;
      this.largest = this.firstNan - 1n - BigInt(this.hasInfinity);
      this.leastNormal = this.hasZero ? 1n << this.fraction : 0n;
      this.quietBit = this.fractionBits ? 1n << (this.fraction - 1n) : 0n;
      this.emin = Number(this.hasZero) - this.bias;
      this.emax = Number(this.largest >> this.fraction) - this.bias;
    }

    magnitude(x) {
      return x & (this.magnitudes - 1n);
    }

    isNegative(x) {
      return (x & this.signBit) !== 0n;
    }

    isNaN(x) {
      return this.magnitude(x) >= this.firstNan;
    }

    isSignaling(x) {
      return this.isNaN(x) && !(x & this.quietBit);
    }

    isInfinite(x) {
      return this.hasInfinity && this.magnitude(x) === this.infinity;
    }

    isFinite(x) {
      return this.magnitude(x) <= this.largest;
    }

    isZero(x) {
      if (!this.hasSubnormals) {
        return this.hasZero && this.magnitude(x) < this.leastNormal;
      }
      return this.magnitude(x) === 0n;
    }

    isSubnormal(x) {
      const magnitude = this.magnitude(x);
      return this.hasSubnormals && magnitude > 0n && magnitude < this.leastNormal;
    }

    isNormal(x) {
      const magnitude = this.magnitude(x);
      return magnitude >= this.leastNormal && magnitude <= this.largest;
    }

    // IEEE 754-2019, 5.7.2
    classOf(x) {
      if (this.isNaN(x)) {
        return this.isIeee && !(x & this.quietBit) ? "a signaling NaN" : "a NaN";
      }
      if (this.isInfinite(x)) {
        return "an infinity";
      }
      return this.isZero(x) ? "a zero" : this.isSubnormal(x) ? "a subnormal number" : "a normal number";
    }
  }

  // Integers in units of 2**-point, in two's complement where they are signed.
  class FixedPoint {
    constructor(name, declared) {
      this.name = name;
      this.width = declared.width;
      this.signed = declared.signed;
      this.point = declared.point;
      this.least = this.signed ? -(1n << BigInt(this.width - 1)) : 0n;
      this.largest = (1n << BigInt(this.width - Number(this.signed))) - 1n;
    }

    // The integer that an encoding stands for, in units of 2**-point.
    value(bits) {
      return this.signed ? BigInt.asIntN(this.width, bits) : bits;
    }

    encode(value) {
      return BigInt.asUintN(this.width, value);
    }
  }

  // What a value is: `sort` is "bool", "bits", "integer" or "float".
  function kindOf(name, formats) {
    if (name === "bool") {
      return {name, sort: "bool", width: 1};
    }
    if (/^\d+$/.test(name)) {
      return {name, sort: "bits", width: Number(name)};
    }
    const format = formats[name];
    if (format instanceof Format) {
      return {name, sort: "float", width: format.width, format};
    }
    return {name, sort: "integer", width: format.width, fixed: format};
  }

  // A type that spellings and operands name. `kind` is that of a lane, whose encoding begins `shift` bits above the
  // lowest of its `laneWidth` bits of the register.
  class Type {
    constructor(name, [kind, lanes, laneWidth, shift], kinds) {
      this.name = name;
      this.kind = kinds(kind);
      this.lanes = lanes;
      this.laneWidth = laneWidth;
      this.shift = shift;
      this.width = lanes * laneWidth;
    }

    // The lanes' encodings, the lowest first.
    unpack(register) {
      const mask = ones(this.kind.width);
      return Array.from({length: this.lanes}, (_, i) => (register >> BigInt(i * this.laneWidth + this.shift)) & mask);
    }

    pack(lanes) {
      return lanes.reduce((whole, x, i) => whole | (x << BigInt(i * this.laneWidth + this.shift)), 0n);
    }
  }

  Object.assign(exact, {FixedPoint, Format, Type, kindOf, ones});
})();
