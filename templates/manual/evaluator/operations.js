// The functions of the semantics language, each as spec's semantics means it: exact results, rounded once. The
// manual's page on the language says what they are; this is the table that every back end implements.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {ELEMENTARY, NAN, NEAREST, ZERO, about, add, decode, divide, evaluateUnit, found, infinite, multiply} = exact;
  const {negated, number, ones, overflow, roundTo, roundToInteger, roundToIntegral, squareRoot, truncatedWith} = exact;

  // What operations return before anything is rounded: {value, negative, nearness, note}, where a value that is null
  // is an infinity, or {invalid}, why there is none. `nearness` compares the value with what is meant: "equal";
  // "about", so near that it rounds alike; "above" and "below", what is meant is larger or smaller in magnitude.

  const isZero = x => x.value !== null && x.value.n === 0n;

  // What an operand stands for.
  function operandOf(bits, f) {
    if (f.isNaN(bits)) {
      return NAN;
    }
    return found(f.isInfinite(bits) ? null : decode(bits, f), f.isNegative(bits));
  }

  // An operation on what all operands stand for, each in its own format; a NaN has no part in it.
  const onNumbers = operation => (t, ...operands) => {
    const numbers = operands.map((x, i) => operandOf(x, t.arguments[i].kind.format ?? t.format));
    return numbers.some(x => x.invalid) ? NAN : operation(t, ...numbers);
  };

  function sum(t, x, y) {
    if (x.value !== null && y.value !== null) {
      const value = add(x.value, y.value);
      if (x.negative === y.negative) {
        return found(value, x.negative);
      }
      // IEEE 754, 6.3
      const note = value.n === 0n ? "an exactly zero sum of terms of unlike signs" : "";
      return found(value, t.mode === "roundTowardNegative", "equal", note);
    }
    if (x.value === null && y.value === null && x.negative !== y.negative) {
      return {invalid: "infinities of unlike signs have no sum"};
    }
    return infinite(x.value === null ? x.negative : y.negative);
  }

  function product(x, y) {
    const negative = x.negative !== y.negative;
    if (x.value !== null && y.value !== null) {
      return found(multiply(x.value, y.value), negative);
    }
    return isZero(x) || isZero(y) ? {invalid: "zero times infinity has no value"} : infinite(negative);
  }

  function quotient(t, x, y) {
    const negative = x.negative !== y.negative;
    if (x.value === null) {
      return y.value === null ? {invalid: "infinity over infinity has no value"} : infinite(negative);
    }
    if (isZero(y)) {
      return isZero(x) ? {invalid: "zero over zero has no value"} : infinite(negative, "a number over zero");
    }
    return found(y.value === null ? ZERO : divide(x.value, y.value), negative);
  }

  function fused(t, x, y, z) {
    const p = product(x, y);
    return p.invalid ? p : sum(t, p, z);
  }

  const opposite = x => ({...x, value: x.value && negated(x.value), negative: !x.negative});

  function root(t, x) {
    if (isZero(x)) {
      return x;
    }
    if (x.negative) {
      return {invalid: "a number below zero has no square root"};
    }
    if (x.value === null) {
      return x;
    }
    // Far more bits than any format has, and a last one for what is cut off: rounding sees the same as with all.
    const odd = x.value.e & 1;
    const places = 4 * t.format.width;
    const square = x.value.n << BigInt(odd + 2 * places);
    const whole = squareRoot(square);
    const e = (x.value.e - odd) / 2 - places;
    return whole * whole === square ? found(number(whole, e), false) : about(number(2n * whole + 1n, e - 1));
  }

  // The operand, whatever it is converted to.
  function converted(t, x) {
    const {format, fixed} = t.arguments[0].kind;
    if (format) {
      return operandOf(x, format);
    }
    const value = number(fixed.value(x), -fixed.point);
    return found(value, value.n < 0n);
  }

  function stochastic(t, x, random) {
    const whole = converted(t, x);
    return whole.invalid ? whole : {...whole, random: {random, width: t.arguments[1].kind.width}};
  }

  const unrounded = {
    addition: onNumbers(sum),
    subtraction: onNumbers((t, x, y) => sum(t, x, opposite(y))),
    multiplication: onNumbers((t, x, y) => product(x, y)),
    division: onNumbers(quotient),
    fusedMultiplyAdd: onNumbers(fused),
    squareRoot: onNumbers(root),
    roundToIntegral: onNumbers((t, x) => x),
    convert: converted,
    convertStochastic: stochastic,
  };
  for (const [name, evaluate] of Object.entries(ELEMENTARY)) {
    unrounded[name] = (t, x) => evaluate(x, t.format, t.mode, t.ftz);
  }

  // The encoding that an operation's result is rounded to.
  function deliver(t, result) {
    const {format: f, kind: {fixed, width}} = t;
    if (result.invalid) {
      return fixed ? 0n : f.canonicalNan;
    }
    const {value, negative, random} = result;
    if (value === null) {
      if (fixed) {
        return (negative ? fixed.least : fixed.largest) & ones(width);
      }
      const sign = negative ? f.signBit : 0n;
      return f.hasInfinity ? sign | f.infinity : overflow(f, sign);
    }
    if (fixed) {
      return roundToInteger(value, fixed, t.mode);
    }
    if (random) {
      return roundTo(truncatedWith(value, f, random), f, NEAREST, false, negative);
    }
    if (t.function === "roundToIntegral") {
      return roundTo(number(roundToIntegral(value, t.mode)), f, t.mode, false, negative);
    }
    return roundTo(value, f, t.mode, t.ftz, negative);
  }

  // An integer that orders numbers by their values, with -0 just below +0.
  function order(x, f) {
    const magnitude = f.isZero(x) ? 0n : f.magnitude(x);
    return f.isNegative(x) ? -1n - magnitude : magnitude;
  }

  // The larger or smaller of two; of a NaN and a number, the number if numbers are asked for.
  const extreme = (numbers, largest) => (t, x, y) => {
    const f = t.format;
    if (f.isNaN(x) || f.isNaN(y)) {
      return !numbers || (f.isNaN(x) && f.isNaN(y)) ? f.canonicalNan : f.isNaN(x) ? y : x;
    }
    return order(x, f) > order(y, f) === largest ? x : y;
  };

  const truth = test => (t, ...operands) => BigInt(test(t, ...operands));

  // Encodings are compared by the integers that order them, once both zeros are one.
  const comparison = (holds, unordered = false) => truth((t, x, y) => {
    const f = t.arguments[0].kind.format;
    if (f.isNaN(x) || f.isNaN(y)) {
      return unordered;
    }
    return holds(f.isZero(x) ? 0n : order(x, f), f.isZero(y) ? 0n : order(y, f));
  });

  const predicate = holds => truth((t, x) => holds(t.arguments[0].kind.format, x));
  const wrapped = evaluate => (t, x, y) => BigInt.asUintN(t.kind.width, evaluate(x, y));
  const integer = (t, i, x) => t.arguments[i].kind.fixed.value(x);

  // A shift by the width or more leaves nothing; BigInt could not make one by 2**64.
  const within = (t, count) => (count < BigInt(t.kind.width) ? count : BigInt(t.kind.width));

  function convertNaN(t, x) {
    const source = t.arguments[0].kind.format;
    const f = t.format;
    const fraction = exact.shifted(x & ones(source.fractionBits), f.fractionBits - source.fractionBits);
    return (source.isNegative(x) ? f.signBit : 0n) | f.infinity | fraction;
  }

  function highWord(t, x) {
    const half = BigInt(t.format.width >> 1);
    return (x >> half) << half;
  }

  const functions = {
    congruent: (t, x) => BigInt.asUintN(t.kind.width, integer(t, 0, x)),
    convertNaN,
    unit: (t, x) => evaluateUnit(t.model, x),
    magnitude: (t, x) => t.format.magnitude(x),
    negate: (t, x) => x ^ t.format.signBit,
    copySign: (t, x, y) => t.format.magnitude(x) | (y & t.format.signBit),
    quieten: (t, x) => x | t.format.quietBit,
    maximum: extreme(false, true),
    minimum: extreme(false, false),
    maximumNumber: extreme(true, true),
    minimumNumber: extreme(true, false),
    select: (t, condition, x, y) => (condition ? x : y),
    isSignMinus: predicate((f, x) => f.isNegative(x)),
    isNormal: predicate((f, x) => f.isNormal(x)),
    isFinite: predicate((f, x) => f.isFinite(x)),
    isZero: predicate((f, x) => f.isZero(x)),
    isSubnormal: predicate((f, x) => f.isSubnormal(x)),
    isInfinite: predicate((f, x) => f.isInfinite(x)),
    isNaN: predicate((f, x) => f.isNaN(x)),
    isSignaling: predicate((f, x) => f.isSignaling(x)),
    compareEqual: comparison((x, y) => x === y),
    compareNotEqual: comparison((x, y) => x !== y, true),
    compareLess: comparison((x, y) => x < y),
    compareLessEqual: comparison((x, y) => x <= y),
    compareGreater: comparison((x, y) => x > y),
    compareGreaterEqual: comparison((x, y) => x >= y),
    addIntegers: wrapped((x, y) => x + y),
    subtractIntegers: wrapped((x, y) => x - y),
    multiplyIntegers: wrapped((x, y) => x * y),
    divideIntegers: (t, x, y) => (y ? BigInt.asUintN(t.kind.width, integer(t, 0, x) / integer(t, 1, y)) : 0n),
    shiftLeftBy: (t, x, count) => BigInt.asUintN(t.kind.width, x << within(t, count)),
    shiftRightBy: (t, x, count) => x >> within(t, count),
    sameInteger: truth((t, x, y) => x === y),
    lessInteger: truth((t, x, y) => integer(t, 0, x) < integer(t, 1, y)),
    bits: (t, x) => x,
    float_of: (t, x) => x,
    highWord,
    bitAnd: (t, x, y) => x & y,
    bitOr: (t, x, y) => x | y,
    bitXor: (t, x, y) => x ^ y,
    bitNot: (t, x) => x ^ ones(t.kind.width),
    shiftLeft: (t, x) => BigInt.asUintN(t.kind.width, x << BigInt(t.count)),
    shiftRight: (t, x) => x >> BigInt(t.count),
    sameBits: truth((t, x, y) => x === y),
    lessBits: truth((t, x, y) => x < y),
    logicalAnd: (t, x, y) => x & y,
    logicalOr: (t, x, y) => x | y,
    logicalXor: (t, x, y) => x ^ y,
    logicalNot: (t, x) => 1n - x,
  };
  for (const [name, evaluate] of Object.entries(unrounded)) {
    functions[name] = (t, ...operands) => deliver(t, evaluate(t, ...operands));
  }

  Object.assign(exact, {functions, unrounded});
})();
