// A step for people: rows of [key, text, place], where the place is another line than the step's own, or nothing.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {CONDITION, Format, HALF, NEAREST, ONE, ZERO, add, compare, decimal, decimalNumber, decode, describe} = exact;
  const {events, fixedText, hexNumber, hexadecimal, inTens, floorLog10, magnitudeOf, negated, number, sourceOf} = exact;
  const {roundTo} = exact;

  const RELATIONS = {less: "is less than", equal: "equals", greater: "is greater than"};
  const ORDINARY = ["a normal number", "a subnormal number"];
  const DOUBLE = new Format("f64", {
    exponent_bits: 11, fraction_bits: 52, bias: 1023, nans: "4503599627370495", canonical_nan: 0, overflow: "infinity",
    signed: true, zero: true, subnormals: true, infinity: true, ieee: true,
  });

  // A value for a sentence.
  function short(bits, kind) {
    const {format: f, fixed, sort, width} = kind;
    if (sort === "bool") {
      return bits ? "true" : "false";
    }
    if (fixed) {
      return fixedText(bits, fixed);
    }
    if (!f) {
      return hexadecimal(bits, width);
    }
    return f.isNaN(bits) ? "NaN" : `${f.isInfinite(bits) && !f.isNegative(bits) ? "+" : ""}${decimal(bits, f)}`;
  }

  // A non-negative number with a few digits, without trailing zeros.
  function rough(x, count) {
    const near = decode(roundTo(x, DOUBLE, NEAREST, false), DOUBLE);
    if (near.n === 0n) {
      return "0";
    }
    let top = floorLog10(near);
    const [whole, rest, divisor] = inTens(near, top + 1 - count);
    const up = 2n * rest > divisor || (2n * rest === divisor && whole & 1n);
    let digits = `${up ? whole + 1n : whole}`;
    top += digits.length - count;
    digits = digits.slice(0, count);
    if (top < -4 || top >= count) {
      const fraction = digits.slice(1).replace(/0+$/, "");
      const e = `${top < 0 ? "-" : "+"}${String(Math.abs(top)).padStart(2, "0")}`;
      return `${digits[0]}${fraction && "."}${fraction}e${e}`;
    }
    const [before, behind] = top < 0
      ? ["0", "0".repeat(-top - 1) + digits]
      : [digits.slice(0, top + 1), digits.slice(top + 1)];
    const kept = behind.replace(/0+$/, "");
    return kept ? `${before}.${kept}` : before;
  }

  const plain = place => (compare(place, HALF) === 0 ? "1/2" : rough(place, 4));

  // A part of the gap, written so that a tie can be recognised.
  function part(place) {
    for (const base of [ZERO, HALF, ONE]) {
      const off = add(place, negated(base));
      const size = magnitudeOf(off);
      if (off.n !== 0n && compare(size, number(1n, 0, 1000n)) < 0) {
        const near = rough(size, 2);
        return base.n ? `${plain(base)} ${off.n > 0n ? "+" : "-"} ${near}` : near;
      }
    }
    return plain(place);
  }

  function rangeOf(to) {
    const [low, high] = [to.least, to.largest].map(end => fixedText(to.encode(end), to));
    return `${to.name} ends at ${low} and ${high}`;
  }

  // The exact value, and where it lies.
  function exactText(a) {
    const {to, value} = a;
    const precision = a.isFixed ? to.width : to.precision;
    const lead = {equal: "", about: "", above: "beyond ", below: "nearer to 0 than "}[a.nearness];
    const digits = Math.max(12, Math.floor((precision * 3) / 5) + 1);
    const hexDigits = Math.max(12, (precision + 1) >> 1);
    let text = `${lead}${decimalNumber(value, digits)} ${hexNumber(value, hexDigits)}`;
    if (a.nearness === "about" && !text.includes("...")) {
      text += "...";
    }
    if (a.nearness === "above" || a.nearness === "below" || a.choice === "end") {
      return text;
    }
    if (a.choice === "flushed" && !a.isFixed) {
      const least = hexNumber(decode(to.leastNormal, to));
      return `${text}, below the least normal ${least}${a.negative ? " in size" : ""}`;
    }
    if (a.place !== null) {
      text += `, ${part(a.place)} of the way up`;
    } else if (!a.isFixed && compare(magnitudeOf(value), decode(to.largest, to)) > 0) {
      text += `, beyond the largest number, ${decimal(to.largest, to)}`;
    }
    return text;
  }

  function kindTo(a) {
    const {to} = a;
    return a.isFixed ? {sort: "integer", width: to.width, fixed: to} : {sort: "float", width: to.width, format: to};
  }

  function quotientText({n, d, e}) {
    let [above, below] = e >= 0 ? [n << BigInt(e), d] : [n, d << BigInt(-e)];
    while (!(above & 1n) && !(below & 1n)) {
      [above, below] = [above >> 1n, below >> 1n];
    }
    return below === 1n ? `${above}` : `${above}/${below}`;
  }

  function neighbourText({bits, value}, a) {
    if (bits !== null) {
      return describe(bits, kindTo(a));
    }
    return `${a.isFixed ? quotientText(value) : decimalNumber(value, 12)}, which ${a.to.name} does not have`;
  }

  // Why it is this neighbour.
  function ruleText(a) {
    let side = a.choice;
    if (side === "overflow") {
      side = a.negative ? "below" : "above";
    }
    if (!a.isFixed && !a.to.hasZero && a.below?.bits === null) {
      return `${a.to.name} has no zero: its smallest number`;
    }
    if (a.mode === "roundTowardZero") {
      return `${a.mode}: the nearer to zero, ${side}`;
    }
    if (a.mode !== NEAREST && a.mode !== "roundTiesToAway") {
      return `${a.mode}: the one ${side}`;
    }
    if (!a.isTie) {
      return `${a.mode}: the nearer one, ${side}`;
    }
    return `a tie, ${a.mode}: ${a.mode === NEAREST ? "the even one" : "away from zero"}, ${side}`;
  }

  // What the random bits decided.
  function randomText(a) {
    const size = a.negative ? add(ONE, negated(a.place)) : a.place;
    const random = number(a.random.random, -a.random.width);
    const went = compare(add(size, random), ONE) >= 0 ? "1 or more, away from zero" : "less than 1, toward zero";
    return `${part(size)} to be cut off + ${rough(random, 6)} from the random bits: ${went}`;
  }

  // `rules` has the modifiers that decide: {modes: {mode: [name, place]}, flush: [name, place]}.
  function roundingRows(a, rules) {
    const sign = a.negative ? "-" : "+";
    const [mode, modePlace] = rules.modes[a.mode] ?? ["", ""];
    const [flush, flushPlace] = rules.flush ?? ["", ""];
    if (a.value === null) {
      if (a.note) {
        return [["exact", `${sign}inf: ${a.note}`]];
      }
      return a.choice === "end" ? [["exact", `${sign}inf, ${rangeOf(a.to)}`]] : [];
    }
    if (a.choice === "exact") {
      const rule = `${a.mode}: such a zero is ${sign}0.0`;
      return a.note ? [["exact", a.note], [mode || "rounding", rule, modePlace]] : [];
    }
    const rows = [["exact", exactText(a)]];
    if (a.choice === "flushed") {
      return [...rows, [flush || "flush", "a subnormal result becomes a zero of its sign", flushPlace]];
    }
    if (a.choice === "end") {
      return [...rows, ["range", rangeOf(a.to)]];
    }
    for (const [key, n] of [["below", a.below], ["above", a.above]]) {
      if (n) {
        rows.push([key, neighbourText(n, a)]);
      }
    }
    if (a.random) {
      if (a.place !== null) {
        rows.push(["random", randomText(a)]);
      }
    } else {
      rows.push([mode || "rounding", ruleText(a), modePlace]);
    }
    if (a.choice === "overflow") {
      rows.push(["overflow", `too large for ${a.to.name}: ${short(a.result, kindTo(a))}`]);
    }
    if (a.ftz && a.isTiny && flush) {
      rows.push([flush, "no flush: rounded with any exponent it is a normal number", flushPlace]);
    }
    return rows;
  }

  function lookupRows({model, kind, operand, reading}) {
    const [first, last] = model.within;
    const where = first === last ? first : `${first} to ${last}`;
    if (!reading) {
      return [[model.name, `of ${where}: ${short(operand, kind)} has a result of its own in its table`]];
    }
    const {segment, place, scale, coefficients, polynomial} = reading;
    return [
      [model.name, `of ${where}: segment ${segment}, place ${place} in it, scale 2^${scale}`],
      ["table", `C0, C1, C2 = ${coefficients.join(", ")}`],
      ["sum", `${hexNumber(polynomial)}, scaled and cut off to ${model.precision} bits`],
    ];
  }

  const kindText = ({fixed}) => `${fixed.name} ${fixed.point ? "fixed-point number" : "integer"}`;

  function accountRows(a, rules, before) {
    switch (a.what) {
      case "rounding":
        return roundingRows(a, rules);
      case "invalid":
        return [["NaN", a.reason + (a.kind.fixed ? ": 0" : "")]];
      case "relation": {
        const [x, y] = a.values.map((v, i) => `${a.names[i]} ${short(v, a.kind)}`.trim());
        return [["compared", RELATIONS[a.holds] ? `${x} ${RELATIONS[a.holds]} ${y}` : `${x} and ${y} are unordered`]];
      }
      case "class": {
        const found = ORDINARY.includes(a.found) ? `, ${a.found}` : "";
        return a.bits === before ? [] : [[a.name || "asked", describe(a.bits, a.kind) + found]];
      }
      case "extreme": {
        const [x, y] = a.values.map(v => short(v, a.kind));
        const result = `${short(a.result, a.kind)} ${hexadecimal(a.result, a.kind.width)}`;
        return [[a.function, `of ${x}, ${y}: ${a.nans || result}`]];
      }
      case "wrapped":
        return [["exact", `${a.exact}, which is no ${kindText(a.kind)}: modulo 2^${a.kind.width}`]];
      default:
        return lookupRows(a);
    }
  }

  // A step on the way that leaves a value as it is.
  function saysNothing(a) {
    if (a.what === "rounding") {
      return a.choice === "exact" && !a.note;
    }
    return a.what === "extreme" && a.result === a.values[0];
  }

  // The rows of a step: what the value was, what happened, and what it is. Without `everything`, nothing on the way
  // that leaves a value as it is.
  function told(programs, program, rules, step, everything = false) {
    const {assignment: {label, value: {kind}}, before, after} = step;
    const changed = before !== null && before !== after;
    const why = events(programs, program, step);
    const rows = [];
    if (changed) {
      const asked = why.find(({account: a}) => a.what === "class" && a.bits === before && a.kind === kind);
      const found = asked && ORDINARY.includes(asked.account.found) ? `, ${asked.account.found}` : "";
      rows.push(["was", describe(before, kind) + found]);
    }
    why.forEach(({place, account}, i) => {
      if (everything || i === why.length - 1 || !saysNothing(account)) {
        accountRows(account, rules, before).forEach(([key, text, own], j) => {
          const places = [!j && place !== sourceOf(step.assignment) ? place : "", own ?? ""];
          rows.push([key, text, places.filter(Boolean).join("  ")]);
        });
      }
    });
    const last = why.at(-1)?.account;
    let ending = changed || before === null ? "" : ", as before";
    if (last?.what === "rounding" && last.choice === "exact" && last.value !== null) {
      ending = last.result === after && last.value.n !== 0n ? ", exactly" : "";
    }
    rows.push([label === CONDITION ? "holds" : label, describe(after, kind) + ending]);
    const unique = new Map(rows.map(row => [JSON.stringify(row), row]));
    return [...unique.values()].map(([key, text, place]) => ({key, text, place: place ?? ""}));
  }

  Object.assign(exact, {told});
})();
