// Exact numbers in and out of a format: the one place where anything is rounded.
// A number is {n, d, e}, which stands for n / d * 2**e: n and d are BigInt, d is positive.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});

  const NEAREST = "roundTiesToEven";

  const number = (n, e = 0, d = 1n) => ({n, d, e});
  const ZERO = number(0n);
  const ONE = number(1n);

  function bitLength(n) {
    const digits = n.toString(16);
    return 4 * digits.length - Math.clz32(parseInt(digits[0], 16)) + 28;
  }

  const abs = n => (n < 0n ? -n : n);
  const magnitudeOf = x => (x.n < 0n ? number(-x.n, x.e, x.d) : x);
  const negated = x => number(-x.n, x.e, x.d);
  const shifted = (n, count) => (count >= 0 ? n << BigInt(count) : n >> BigInt(-count));

  // n / 2**-count rounded down, with the remainder in units of the divisor.
  function divided(n, d, count) {
    const [above, below] = count >= 0 ? [n << BigInt(count), d] : [n, d << BigInt(-count)];
    const whole = above / below;
    const rest = above % below;
    return rest < 0n ? [whole - 1n, rest + below, below] : [whole, rest, below];
  }

  function add(x, y) {
    const e = Math.min(x.e, y.e);
    const [a, b] = [x.n << BigInt(x.e - e), y.n << BigInt(y.e - e)];
    return x.d === y.d ? number(a + b, e, x.d) : number(a * y.d + b * x.d, e, x.d * y.d);
  }

  const multiply = (x, y) => number(x.n * y.n, x.e + y.e, x.d * y.d);

  // y is not zero.
  function divide(x, y) {
    const sign = y.n < 0n ? -1n : 1n;
    return number(x.n * y.d * sign, x.e - y.e, x.d * y.n * sign);
  }

  // Less than, equal to or greater than 0, as x is to y.
  function compare(x, y) {
    const difference = add(x, negated(y)).n;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }

  // The exponent of the largest power of two that is not above a positive number.
  function floorLog2(x) {
    const e = bitLength(x.n) - bitLength(x.d);
    const below = e >= 0 ? x.d << BigInt(e) <= x.n : x.d <= x.n << BigInt(-e);
    return e + x.e - Number(!below);
  }

  const isAway = (mode, negative) => mode === (negative ? "roundTowardNegative" : "roundTowardPositive");

  // A magnitude over 2**quantum as an integer.
  function rounded(x, quantum, mode, away) {
    const [whole, rest, divisor] = divided(x.n, x.d, x.e - quantum);
    if (mode === NEAREST) {
      const twice = rest << 1n;
      return twice > divisor || (twice === divisor && whole & 1n) ? whole + 1n : whole;
    }
    if (mode === "roundTiesToAway") {
      return rest << 1n >= divisor ? whole + 1n : whole;
    }
    return away && rest > 0n ? whole + 1n : whole;
  }

  // The value of a finite encoding, without the sign of a zero.
  function decode(bits, f) {
    let significand = bits & ((1n << f.fraction) - 1n);
    const exponent = Number(f.magnitude(bits) >> f.fraction);
    if (exponent || !f.hasZero) {
      significand |= 1n << f.fraction;
    } else if (!f.hasSubnormals) {
      return ZERO;
    }
    const e = Math.max(exponent, Number(f.hasZero)) - f.bias - f.fractionBits;
    return number(f.isNegative(bits) ? -significand : significand, e);
  }

  // The encoding that a magnitude rounds to, as if numbers went on above the largest one.
  function unbounded(x, exponent, f, mode, away) {
    const place = Math.max(exponent, f.emin);
    const encoded = rounded(x, place - f.fractionBits, mode, away) + (BigInt(place - f.emin) << f.fraction);
    // Without a zero, exponent field 0 is that of the smallest numbers.
    return f.hasZero ? encoded : encoded - (1n << f.fraction);
  }

  // What a number too large becomes, and an infinity where there is none.
  function overflow(f, sign) {
    if (f.overflow === "nan") {
      return f.canonicalNan;
    }
    return sign | (f.overflow === "infinity" ? f.infinity : f.largest);
  }

  // Rounds an exact number once. `negative` is the sign of a zero. With `ftz` a result becomes a zero of its sign when
  // it is tiny: below the smallest normal number after rounding with unbounded exponent. A format without a sign takes
  // the magnitude; one without a zero has its smallest number in place of all that are smaller.
  function roundTo(x, f, mode, ftz, negative = false) {
    const sign = x.n < 0n || (x.n === 0n && negative) ? f.signBit : 0n;
    if (x.n === 0n) {
      return sign;
    }
    const size = magnitudeOf(x);
    const exponent = floorLog2(size);
    const away = isAway(mode, sign !== 0n);
    if (exponent < f.emin) {
      if (!f.hasZero) {
        return sign;
      }
      const quantum = exponent - f.fractionBits;
      if (ftz && rounded(size, quantum, mode, away) < 1n << BigInt(f.emin - quantum)) {
        return sign;
      }
      if (!f.hasSubnormals) {
        return sign | (rounded(size, f.emin, mode, away) << f.fraction);
      }
    }
    const encoded = unbounded(size, exponent, f, mode, away);
    if (encoded <= f.largest) {
      return sign | encoded;
    }
    const over = away || mode === NEAREST || mode === "roundTiesToAway";
    return over ? overflow(f, sign) : sign | f.largest;
  }

  // Whether a number rounds to more than the largest one in magnitude, were there more.
  function roundsBeyond(x, f, mode) {
    const size = magnitudeOf(x);
    if (compare(size, decode(f.largest, f)) <= 0) {
      return false;
    }
    return unbounded(size, floorLog2(size), f, mode, isAway(mode, x.n < 0n && f.signed)) > f.largest;
  }

  // A number whose magnitude, with random / 2**width of its last place in a format added, is cut off after that place.
  function truncatedWith(x, f, {random, width}) {
    if (x.n === 0n) {
      return x;
    }
    const size = magnitudeOf(x);
    const place = Math.max(floorLog2(size), f.emin) - f.fractionBits;
    const kept = (divided(size.n, size.d, size.e - place + width)[0] + random) >> BigInt(width);
    return number(x.n < 0n ? -kept : kept, place);
  }

  // The nearest integer in a direction, in units of 2**-point.
  function roundToIntegral(x, mode, point = 0) {
    const whole = rounded(magnitudeOf(x), -point, mode, isAway(mode, x.n < 0n));
    return x.n < 0n ? -whole : whole;
  }

  // The same as an encoding; where it is out of range, that of the end of the range.
  function roundToInteger(x, fixed, mode) {
    const found = roundToIntegral(x, mode, fixed.point);
    return fixed.encode(found < fixed.least ? fixed.least : found > fixed.largest ? fixed.largest : found);
  }

  // The largest integer whose square is not above n.
  function squareRoot(n) {
    if (n < 2n) {
      return n;
    }
    let root = 1n << BigInt((bitLength(n) + 1) >> 1);
    for (;;) {
      const next = (root + n / root) >> 1n;
      if (next >= root) {
        return root;
      }
      root = next;
    }
  }

  Object.assign(exact, {
    NEAREST, ONE, ZERO, abs, add, bitLength, compare, decode, divide, divided, floorLog2, magnitudeOf, multiply,
    negated, number, overflow, roundTo, roundToInteger, roundToIntegral, rounded, roundsBeyond, shifted, squareRoot,
    truncatedWith,
  });
})();
