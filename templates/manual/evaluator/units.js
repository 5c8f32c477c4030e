// The special function unit of a target, bit for bit, where a model of it is known: a table-based quadratic
// interpolator. An argument is reduced to a segment and a place in it, a polynomial is summed in fixed point, the sum
// is scaled and cut off. codegen/ptxspec/model/units.py says what each field of a model means.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {abs, bitLength, decode, divided, multiply, number, ones, shifted} = exact;

  const floorOf = (x, bits) => divided(x.n, x.d, x.e + bits)[0];

  // The magnitude with an exponent field that may be beyond the format's; what is tiny is a zero.
  function inRange(biased, fraction, f) {
    if (biased < 1n) {
      return 0n;
    }
    const encoded = (biased << f.fraction) | fraction;
    return encoded < f.infinity ? encoded : f.infinity;
  }

  // The result of an operand that is not reduced, null for the others.
  function specialOf(model, x) {
    const {format: f, special} = model;
    const sign = f.isNegative(x) ? "-" : "+";
    const magnitude = f.magnitude(x);
    if (magnitude > f.infinity) {
      return special.nan;
    }
    if (magnitude === f.infinity) {
      return special[`${sign}infinity`];
    }
    if (magnitude >> f.fraction === 0n) {
      return special[`${sign}zero`];
    }
    if (sign === "-" && special.negative !== undefined) {
      return special.negative;
    }
    if (model.kind === "octaves") {
      const exponent = Number(magnitude >> f.fraction) - f.bias;
      if (exponent < model.first) {
        return x;
      }
      if (exponent > model.last) {
        return special[`${sign}infinity`];
      }
    }
    return null;
  }

  // The bits of an argument's integer within one octave or quarter.
  const placesOf = model => (model.kind === "turns" ? model.bits - 2 : model.bits);

  // The scale, the integer that picks segment and place, and whether the result is negative.
  function reduced(model, x) {
    const {format: f, bits} = model;
    const places = placesOf(model);
    if (model.kind === "pattern") {
      return [0n, x, false];
    }
    const negative = model.odd && f.isNegative(x);
    const magnitude = f.magnitude(x);
    const mask = ones(places);
    const exponent = Number(magnitude >> f.fraction) - f.bias;
    if (model.kind === "significand" || model.kind === "octaves") {
      const fraction = shifted(magnitude, bits - f.fractionBits) & mask;
      if (model.kind === "octaves") {
        return [BigInt(exponent), (BigInt(exponent - model.first) << BigInt(bits)) | fraction, negative];
      }
      const scale = Math.floor(exponent / model.octaves);
      const octave = BigInt(exponent - scale * model.octaves);
      return [BigInt(scale), (octave << BigInt(bits)) | fraction, negative];
    }
    if (model.kind === "fixed") {
      let fixed = floorOf(decode(x, f), bits);
      if (model.negative !== "floor" && f.isNegative(x)) {
        const size = floorOf(decode(magnitude, f), bits);
        fixed = -size - BigInt(model.negative === "complement" && (size & mask) !== 0n);
      }
      return [fixed >> BigInt(bits), fixed & mask, negative];
    }
    const [n, d] = model.factor;
    let angle = multiply(decode(magnitude, f), number(n, 0, d));
    if (model.kept) {
      const last = exponent - model.kept;
      angle = number(floorOf(angle, -last), last);
    }
    const fixed = floorOf(angle, bits);
    const quarter = Number((fixed >> BigInt(places)) & 3n) + model.phase;
    let place = fixed & mask;
    if (quarter & 1) {
      place = model.mirror === "complement" ? mask - place : mask + 1n - place;
    }
    return [0n, place, negative !== ((quarter & 2) !== 0)];
  }

  // The segment that a place lies in, and how far. A place that is a whole quarter lies at the end of the last segment.
  function segmentOf(model, place) {
    const local = BigInt(placesOf(model) - Math.log2(model.segments));
    const last = BigInt(model.coefficients.length - 1);
    const found = place >> local;
    const segment = found < last ? found : last;
    return [Number(segment), place - (segment << local)];
  }

  // x squared in units of 2**drop, without what is below: the columns of the partial products, or the sum's bits.
  function square(x, drop, columns) {
    if (!columns) {
      return (x * x) >> BigInt(drop);
    }
    const bits = [];
    for (let i = 0; x >> BigInt(i); i += 1) {
      if ((x >> BigInt(i)) & 1n) {
        bits.push(i);
      }
    }
    let total = 0n;
    for (const i of bits) {
      total += 2 * i >= drop ? 1n << BigInt(2 * i) : 0n;
      for (const j of bits) {
        total += i < j && i + j + 1 >= drop ? 1n << BigInt(i + j + 1) : 0n;
      }
    }
    return total >> BigInt(drop);
  }

  // The polynomial, in units of 2**-(point + out).
  function interpolated(model, place) {
    const [segment, x] = segmentOf(model, place);
    const [c0, c1, c2] = model.coefficients[segment].map(BigInt);
    const [s0, s1, s2] = model.shifts.map(BigInt);
    const unseen = BigInt(model.unseen);
    const squared = square((x >> unseen) << unseen, model.drop, model.columns);
    return (c0 << s0) + ((c1 * x) << s1) + ((c2 * squared) << s2) + model.bias;
  }

  // The polynomial, with the scale where that is added, in units of 2**-point.
  function sumOf(model, scale, place) {
    const out = model.shifts[3];
    const own = model.own_sums.find(([at]) => BigInt(at) === place);
    let total = own ? BigInt(own[1]) << BigInt(out) : interpolated(model, place);
    if (model.exponent === null) {
      total += scale << BigInt(model.point + out);
    }
    return model.toward_zero ? total / (1n << BigInt(out)) : total >> BigInt(out);
  }

  // The result's encoding for an operand's, in the model's format.
  function evaluateUnit(model, x) {
    const f = model.format;
    const special = model.kind === "pattern" ? null : specialOf(model, x);
    if (special !== null) {
      return special;
    }
    const [scale, place, negative] = reduced(model, x);
    const own = model.own_results.find(([operand]) => BigInt(operand) === x);
    if (own) {
      return BigInt(own[1]);
    }
    const sum = sumOf(model, scale, place);
    const sign = negative !== sum < 0n ? f.signBit : 0n;
    if (sum === 0n) {
      return sign;
    }
    const size = abs(sum);
    const significand = shifted(size, model.precision - bitLength(size));
    const power = model.exponent === null ? 0n : scale * BigInt(model.exponent);
    const exponent = BigInt(bitLength(size) - 1 - model.point) + power;
    const fraction = (significand << BigInt(f.precision - model.precision)) & ones(f.fractionBits);
    return sign | inRange(exponent + BigInt(f.bias), fraction, f);
  }

  // How an interpolator comes to a result: the argument's scale, the segment of the table and the place in it, the
  // coefficients there, and their polynomial; null where nothing is read.
  function readingOf(model, x) {
    if (model.kind !== "pattern" && specialOf(model, x) !== null) {
      return null;
    }
    const [scale, place] = reduced(model, x);
    const isOwn = model.own_results.some(([operand]) => BigInt(operand) === x);
    if (isOwn || model.own_sums.some(([at]) => BigInt(at) === place)) {
      return null;
    }
    const [segment, within] = segmentOf(model, place);
    const polynomial = number(interpolated(model, place) >> BigInt(model.shifts[3]), -model.point);
    return {scale, segment, place: within, coefficients: model.coefficients[segment], polynomial};
  }

  // A model from data, whose integers may be longer than numbers can hold.
  function unitModel(declared, formats) {
    const special = Object.fromEntries(Object.entries(declared.special).map(([name, x]) => [name, BigInt(x)]));
    const [bias, factor] = [BigInt(declared.bias), declared.factor.map(BigInt)];
    return {...declared, format: formats[declared.format], special, bias, factor};
  }

  Object.assign(exact, {evaluateUnit, readingOf, unitModel});
})();
