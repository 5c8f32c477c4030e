// Elementary functions, correctly rounded: Ziv's strategy in fixed point. A function is evaluated with more and more
// bits until everything within its error rounds to the same encoding. That ends because no result except the few that
// are handled first is exact or a tie.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {ONE, ZERO, abs, add, bitLength, compare, decode, divided, magnitudeOf, multiply, negated} = exact;
  const {number, roundTo, shifted, squareRoot} = exact;

  // Fixed point has this many more bits than asked for, which covers all errors of the steps; an approximation's
  // error is below 2**ERROR of its last place.
  const GUARD = 32;
  const ERROR = 12n;

  const NAN = {invalid: "an operand is a NaN"};
  const found = (value, negative, nearness = "equal", note = "") => ({value, negative, nearness, note});
  const infinite = (negative, note = "") => found(null, negative, "equal", note);
  const about = value => found(value, value.n < 0n, "about");

  // Constants, each with the most bits that were asked for.
  const known = {};

  function constant(name, bits, evaluate) {
    if (!known[name] || known[name].bits < bits) {
      known[name] = {bits, value: evaluate(bits)};
    }
    return known[name].value >> BigInt(known[name].bits - bits);
  }

  // The sum of z**k / k over odd k, with signs that alternate or not, for z = n / d in fixed point.
  function oddSeries(n, d, bits, alternating) {
    let power = (n << BigInt(bits)) / d;
    const [square, divisor] = [n * n, d * d];
    let total = power;
    for (let k = 3n, sign = -1n; power !== 0n; k += 2n, sign = -sign) {
      power = (power * square) / divisor;
      total += (alternating ? sign * power : power) / k;
    }
    return total;
  }

  const arctangent = (d, bits) => oddSeries(1n, d, bits, true);
  const pi = bits =>
    constant("pi", bits, b => (16n * arctangent(5n, b + GUARD) - 4n * arctangent(239n, b + GUARD)) >> BigInt(GUARD));
  const ln2 = bits => constant("ln2", bits, b => (2n * oddSeries(1n, 3n, b + GUARD, false)) >> BigInt(GUARD));

  // e to the power x, in fixed point, for an x between -1 and 1.
  function exponential(x, bits) {
    const halvings = 8;
    const inner = bits + 2 * halvings;
    const reduced = shifted(x, inner - bits - halvings);
    let total = 1n << BigInt(inner);
    for (let term = total, k = 1n; term !== 0n && term !== -1n; k += 1n) {
      term = ((term * reduced) >> BigInt(inner)) / k;
      total += term;
    }
    for (let i = 0; i < halvings; i += 1) {
      total = (total * total) >> BigInt(inner);
    }
    return total >> BigInt(inner - bits);
  }

  // Sine and cosine of x, in fixed point, for an x between -1 and 1: the terms of the series from the first one on.
  function circular(x, bits, first) {
    const square = (x * x) >> BigInt(bits);
    let term = first ? x : 1n << BigInt(bits);
    let total = term;
    for (let k = BigInt(first); term !== 0n && term !== -1n; k += 2n) {
      term = -((term * square) >> BigInt(bits)) / ((k + 1n) * (k + 2n));
      total += term;
    }
    return total;
  }

  const inFixedPoint = (x, bits) => divided(x.n, x.d, x.e + bits)[0];

  // The sine of x + turns quarters.
  function sineOf(x, quarters, bits) {
    const wide = bits + Math.max(0, bitLength(abs(x.n)) + x.e) + GUARD;
    const quarter = pi(wide) >> 1n;
    const whole = inFixedPoint(x, wide);
    const [count] = divided(2n * whole + quarter, 2n * quarter, 0);
    const rest = (whole - count * quarter) >> BigInt(wide - bits);
    const place = Number(BigInt.asUintN(2, count + BigInt(quarters)));
    const value = circular(rest, bits, place & 1 ? 0 : 1);
    return place & 2 ? -value : value;
  }

  // So near zero that the first terms of a series round as the function does.
  const isSmall = (x, f) => compare(magnitudeOf(x), number(1n, -f.width)) < 0;

  // For a count of bits, `evaluate` gives a number with that many after the point or all but a few of them right.
  function evaluated(evaluate, f, mode, ftz) {
    for (let bits = f.width + f.precision + 64; ; bits *= 2) {
      const {n, e} = evaluate(bits);
      const [low, high] = [n - (1n << ERROR), n + (1n << ERROR)];
      if (low > 0n === high > 0n && roundTo(number(low, e), f, mode, ftz) === roundTo(number(high, e), f, mode, ftz)) {
        return about(number(n, e));
      }
    }
  }

  // A value computed with bits to spare.
  const spared = (compute, bits) => number(compute(bits + GUARD) >> BigInt(GUARD), -bits);

  function isPower(x) {
    const size = bitLength(x.n);
    return x.n === 1n << BigInt(size - 1) ? size - 1 + x.e : null;
  }

  function exp2(bits, f, mode, ftz) {
    if (f.isNaN(bits)) {
      return NAN;
    }
    if (f.isInfinite(bits)) {
      return f.isNegative(bits) ? found(ZERO, false) : infinite(false);
    }
    const operand = decode(bits, f);
    // Beyond the largest number and below half the least one, one size is as good as another.
    const [most, least] = [number(BigInt(f.emax + 1)), number(BigInt(f.emin - f.precision - 2))];
    const x = compare(operand, most) > 0 ? most : compare(operand, least) < 0 ? least : operand;
    const [whole, rest] = divided(x.n, x.d, x.e);
    if (rest === 0n) {
      const order = compare(operand, x);
      return found(number(1n, Number(whole)), false, order > 0 ? "above" : order < 0 ? "below" : "equal");
    }
    if (isSmall(x, f)) {
      const power = multiply(x, number(ln2(192), -192));
      return about(add(add(ONE, power), multiply(multiply(power, power), number(1n, -1))));
    }
    const fraction = add(x, number(-whole));
    const power = b => exponential((inFixedPoint(fraction, b) * ln2(b)) >> BigInt(b), b);
    return evaluated(b => number(spared(power, b).n, Number(whole) - b), f, mode, ftz);
  }

  function log2(bits, f, mode, ftz) {
    if (f.isZero(bits)) {
      return infinite(true, "the logarithm of zero");
    }
    if (f.isNaN(bits)) {
      return NAN;
    }
    if (f.isNegative(bits)) {
      return {invalid: "a number below zero has no logarithm"};
    }
    if (f.isInfinite(bits)) {
      return infinite(false);
    }
    const x = decode(bits, f);
    const power = isPower(x);
    if (power !== null) {
      return found(number(BigInt(power)), power < 0);
    }
    // The significand lies between 3/4 and 3/2, so that the logarithm of a number near 1 loses nothing.
    let length = bitLength(x.n) - 1;
    length += Number(2n * x.n >= 3n << BigInt(length));
    const one = 1n << BigInt(length);
    const logarithm = b => 2n * oddSeries(x.n - one, x.n + one, b, false);
    const whole = BigInt(length + x.e);
    return evaluated(
      b => spared(wide => (whole << BigInt(wide)) + (logarithm(wide) << BigInt(wide)) / ln2(wide), b), f, mode, ftz,
    );
  }

  function sin(bits, f, mode, ftz) {
    if (f.isZero(bits)) {
      return found(ZERO, f.isNegative(bits));
    }
    if (f.isNaN(bits) || f.isInfinite(bits)) {
      return f.isNaN(bits) ? NAN : {invalid: "an infinity has no sine"};
    }
    const x = decode(bits, f);
    if (isSmall(x, f)) {
      return about(add(x, multiply(multiply(x, multiply(x, x)), number(-1n, 0, 6n))));
    }
    return evaluated(b => spared(wide => sineOf(x, 0, wide), b), f, mode, ftz);
  }

  function cos(bits, f, mode, ftz) {
    if (f.isNaN(bits) || f.isInfinite(bits)) {
      return f.isNaN(bits) ? NAN : {invalid: "an infinity has no cosine"};
    }
    const x = decode(bits, f);
    if (x.n === 0n) {
      return found(ONE, false);
    }
    if (isSmall(x, f)) {
      return about(add(ONE, multiply(multiply(x, x), number(-1n, -1))));
    }
    return evaluated(b => spared(wide => sineOf(x, 1, wide), b), f, mode, ftz);
  }

  function tanh(bits, f, mode, ftz) {
    const negative = f.isNegative(bits);
    if (f.isZero(bits)) {
      return found(ZERO, negative);
    }
    if (f.isNaN(bits)) {
      return NAN;
    }
    const signed = x => (negative ? negated(x) : x);
    if (f.isInfinite(bits)) {
      return found(signed(ONE), negative);
    }
    const x = decode(bits, f);
    if (isSmall(x, f)) {
      return about(add(x, multiply(multiply(x, multiply(x, x)), number(-1n, 0, 3n))));
    }
    const size = magnitudeOf(x);
    if (compare(size, number(BigInt(f.width))) > 0) {
      // Less than 1 by so little that no number or tie lies between.
      return found(signed(add(ONE, number(-1n, -f.width))), negative, "above");
    }
    const tangent = b => {
      const [whole, rest] = divided(inFixedPoint(size, b + 1), ln2(b), 0);
      const power = exponential(-rest, b) >> whole;
      const one = 1n << BigInt(b);
      return ((one - power) << BigInt(b)) / (one + power);
    };
    return evaluated(b => signed(spared(tangent, b)), f, mode, ftz);
  }

  function rSqrt(bits, f) {
    if (f.isZero(bits)) {
      return infinite(f.isNegative(bits), "a number over zero");
    }
    if (f.isNaN(bits)) {
      return NAN;
    }
    if (f.isNegative(bits)) {
      return {invalid: "a number below zero has no square root"};
    }
    if (f.isInfinite(bits)) {
      return found(ZERO, false);
    }
    const x = decode(bits, f);
    const power = isPower(x);
    if (power !== null && power % 2 === 0) {
      return found(number(1n, -power / 2), false);
    }
    // Far more bits than any format has, and a last one for what is cut off.
    const odd = x.e & 1;
    const places = 4 * f.width;
    const root = squareRoot((1n << BigInt(2 * places)) / (x.n << BigInt(odd)));
    return about(number(2n * root + 1n, -places - 1 - (x.e - odd) / 2));
  }

  Object.assign(exact, {ELEMENTARY: {cos, exp2, log2, rSqrt, sin, tanh}, NAN, about, found, infinite});
})();
