// Between which numbers an exact value lies, and which of them rounding took.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {FixedPoint, add, compare, decode, divide, divided, magnitudeOf, multiply, negated, number, roundTo} = exact;
  const {roundToIntegral, roundsBeyond} = exact;

  const TOWARD_ZERO = "roundTowardZero";
  const HALF = number(1n, -1);

  // A number next to the exact one: its value, and its bits, null for one that the format does not have.
  const neighbour = (bits, value) => ({bits, value});

  const side = (value, rounded) => ["below", "exact", "above"][compare(rounded, value) + 1];

  // The integers around a value, in units of 2**-point.
  function whole(value, to) {
    const [low, rest] = divided(value.n, value.d, value.e + to.point);
    const next = n => neighbour(n >= to.least && n <= to.largest ? to.encode(n) : null, number(n, -to.point));
    return rest === 0n ? [null, null] : [next(low), next(low + 1n)];
  }

  // The whole numbers around a value, which its format has.
  function integers(value, f) {
    const [low, rest] = divided(value.n, value.d, value.e);
    const next = (n, negative) => neighbour(roundTo(number(n), f, TOWARD_ZERO, false, negative), number(n));
    return rest === 0n ? [null, null] : [next(low, false), next(low + 1n, low + 1n === 0n)];
  }

  const opposite = ({bits, value}, f) => neighbour(bits === null ? null : bits | f.signBit, negated(value));

  // The numbers of a format around a value, if it is not one itself; far beyond all of them there are none.
  function neighbours(value, f) {
    const size = magnitudeOf(value);
    const inner = roundTo(size, f, TOWARD_ZERO, false);
    const found = decode(inner, f);
    const order = compare(found, size);
    if (order === 0) {
      return [null, null];
    }
    let [near, far] = [neighbour(inner, found), null];
    if (order > 0) {
      [near, far] = [neighbour(null, number(0n)), near];
    } else if (inner < f.largest) {
      const outer = f.hasSubnormals || inner >= f.leastNormal ? inner + 1n : f.leastNormal;
      far = neighbour(outer, decode(outer, f));
    } else {
      far = neighbour(null, add(multiply(number(2n), found), negated(decode(inner - 1n, f))));
      if (compare(far.value, size) <= 0) {
        return [null, null];
      }
    }
    return value.n > 0n ? [near, far] : [opposite(far, f), opposite(near, f)];
  }

  // The account of an operation that rounds: `below` and `above` are the numbers around its exact value, `place` how
  // far it lies between them. `choice` is "exact", "below" or "above"; "flushed" for a tiny result that became a zero;
  // "overflow" for one too large for the format, and "end" for one beyond an integer type.
  function roundingOf(t, result, bits) {
    const to = t.kind.fixed ?? t.format;
    const isFixed = to instanceof FixedPoint;
    const signed = isFixed || to.signed;
    const integral = t.function === "roundToIntegral";
    const value = result.value === null || signed ? result.value : magnitudeOf(result.value);
    let [below, above] = [null, null];
    let choice = isFixed ? "end" : "exact";
    if (value !== null && isFixed) {
      [below, above] = whole(value, to);
      const units = roundToIntegral(value, t.mode, to.point);
      choice = units >= to.least && units <= to.largest ? side(value, number(units, -to.point)) : "end";
    } else if (value !== null) {
      [below, above] = (integral ? integers : neighbours)(value, to);
      // In a format where overflow is the largest number, that is all there is to see of it.
      const saturated = to.overflow === "largest" && !result.random && roundsBeyond(value, to, t.mode);
      const least = decode(to.leastNormal, to);
      if (to.magnitude(bits) > to.largest || saturated) {
        choice = "overflow";
      } else if (value.n !== 0n && t.ftz && to.isZero(bits) && compare(magnitudeOf(value), least) < 0) {
        choice = "flushed";
      } else {
        choice = side(value, decode(bits, to));
      }
    }
    const isTiny = !isFixed && value !== null && value.n !== 0n
      && compare(magnitudeOf(value), decode(to.leastNormal, to)) < 0;
    let place = null;
    if (below && above && value !== null) {
      place = divide(add(value, negated(below.value)), add(above.value, negated(below.value)));
    }
    const isTie = place !== null && compare(place, HALF) === 0 && result.nearness === "equal";
    return {
      what: "rounding", function: t.function, result: bits, to, isFixed, mode: t.mode, ftz: t.ftz, value,
      negative: result.negative, nearness: result.nearness, note: result.note ?? "", random: result.random ?? null,
      below, above, place, isTie, isTiny, choice,
    };
  }

  Object.assign(exact, {HALF, roundingOf});
})();
