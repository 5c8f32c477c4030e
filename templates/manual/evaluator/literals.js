// Numbers as people write and read them: decimals, hexadecimal floats, bits; as `ptxspec eval` has them.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {FixedPoint, NEAREST, compare, decode, divided, floorLog2, magnitudeOf, number} = exact;
  const {roundTo, roundToInteger} = exact;

  const HEX_FLOAT = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d+)$/i;
  const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;
  const POWER = /^([+-]?)2\^([+-]?\d{1,9})$/;
  // PTX's own constants of single and double precision.
  const CONSTANT = /^0(?:f([0-9a-f]{8})|d([0-9a-f]{16}))$/i;
  const FORMS = "write a number, as in 1.5, inf, nan, 0x1.8p-3 or 0f3FC00000, or bits, as in 0x3fc00000";
  const WORDS = ["inf", "-inf", "nan"];
  // Beyond the exponents of every format; and longer than anybody types, which would take a browser long.
  const FAR = 20_000;
  const LONGEST = 5_000;
  // Numbers of formats that are no wider are written exactly, where this many digits suffice.
  const [NARROW, DIGITS, ABOUT] = [16, 17, "≈"];

  const power = (base, n) => BigInt(base) ** BigInt(n);

  // A decimal or hexadecimal number, or a power such as 2^-127, as an exact value and its sign; null for anything else.
  // One that is larger or smaller than every format's may come back as another such number.
  function parseNumber(text) {
    const [, minus, exponentOfTwo] = text.match(POWER) ?? [];
    if (exponentOfTwo) {
      const negative = minus === "-";
      return {value: number(negative ? -1n : 1n, Math.max(-FAR, Math.min(FAR, Number(exponentOfTwo)))), negative};
    }
    const hexadecimal = text.match(HEX_FLOAT);
    const match = hexadecimal ?? text.match(DECIMAL);
    const digits = match ? match[2] + (match[3] ?? "") : "";
    if (!digits) {
      return null;
    }
    const part = (match[3] ?? "").length;
    const far = FAR + 4 * text.length;
    const exponent = Math.max(-far, Math.min(far, Number(match[4] ?? "0")));
    const negative = match[1] === "-";
    const sign = negative ? -1n : 1n;
    if (hexadecimal) {
      return {value: number(sign * BigInt(`0x${digits}`), exponent - 4 * part), negative};
    }
    const n = sign * BigInt(digits);
    const places = exponent - part;
    return {value: places >= 0 ? number(n * power(10, places)) : number(n, 0, power(10, -places)), negative};
  }

  // How much two names are alike, from 0 to 1: what is left to match on both sides of the longest common part.
  function likeness(one, other) {
    const common = (a, b) => {
      let [best, at, to] = [0, 0, 0];
      for (let i = 0; i < a.length; i += 1) {
        for (let j = 0; j < b.length; j += 1) {
          let k = 0;
          while (i + k < a.length && j + k < b.length && a[i + k] === b[j + k]) {
            k += 1;
          }
          [best, at, to] = k > best ? [k, i, j] : [best, at, to];
        }
      }
      return best && best + common(a.slice(0, at), b.slice(0, to)) + common(a.slice(at + best), b.slice(to + best));
    };
    return one.length + other.length ? (2 * common(one, other)) / (one.length + other.length) : 1;
  }

  // The known name most like another one; null where none is like it.
  function nearestName(name, known) {
    const low = name.toLowerCase().slice(0, 40);
    const start = k => [...k].findIndex((c, i) => c !== low[i]) + 1 || k.length + 1;
    const found = known.map(k => [likeness(k.toLowerCase(), low), start(k), k]).filter(([much]) => much >= 0.6);
    found.sort((x, y) => y[0] - x[0] || y[1] - x[1]);
    return found.length ? found[0][2] : null;
  }

  // The number of one of PTX's constants, as text that reads as the same number.
  function constantText([, single, double]) {
    const [bits, wide] = [new DataView(new ArrayBuffer(8)), single ?? double];
    bits.setBigUint64(0, BigInt(`0x${wide}`) << (single ? 32n : 0n));
    const x = single ? bits.getFloat32(0) : bits.getFloat64(0);
    if (!Number.isFinite(x)) {
      return Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
    }
    bits.setFloat64(0, x);
    const whole = bits.getBigUint64(0), exponent = Number((whole >> 52n) & 0x7ffn);
    const fraction = (whole & 0xfffffffffffffn) | (exponent ? 1n << 52n : 0n);
    return `${whole >> 63n ? "-" : ""}0x${fraction.toString(16)}p${Math.max(exponent, 1) - 1075}`;
  }

  // The encoding of a lane, as {bits} or {error}.
  function parseLane(text, type) {
    const {format, fixed, width} = type.kind;
    const constant = text.match(CONSTANT);
    if (constant && format?.isIeee && format.width === 4 * (text.length - 2)) {
      return {bits: BigInt(`0x${text.slice(2)}`)};
    }
    const told = constant ? constantText(constant) : text.replace(ABOUT, "");
    const word = told.replace(/^[+-]+/, "").toLowerCase();
    if (format && ["inf", "infinity", "nan"].includes(word)) {
      const sign = told.startsWith("-") ? format.signBit : 0n;
      if (word === "nan" && format.nans) {
        return {bits: sign | format.canonicalNan};
      }
      if (word !== "nan" && format.hasInfinity) {
        return {bits: sign | format.infinity};
      }
      return {error: `operand '${text}': ${format.name} has no ${word === "nan" ? "NaN" : "infinity"}`};
    }
    const found = parseNumber(told);
    if (!found) {
      const nearest = nearestName(text, WORDS);
      const help = nearest ? `did you mean '${nearest}'?` : FORMS;
      return {error: `operand '${text}' is not a number; ${help}`, ...(nearest && {nearest})};
    }
    const {value, negative} = found;
    if (format) {
      return {bits: roundTo(value, format, NEAREST, false, negative)};
    }
    const to = fixed ?? new FixedPoint(type.name, {width, signed: false, point: 0});
    const inside = end => number(end, -to.point);
    if (compare(value, inside(to.least)) < 0 || compare(value, inside(to.largest)) > 0) {
      return {error: `operand '${text}' is out of range for .${type.name}`};
    }
    if (!to.point && divided(value.n, value.d, value.e)[1] !== 0n) {
      return {error: `operand '${text}' is not an integer, which .${type.name} requires`};
    }
    return {bits: roundToInteger(value, to, NEAREST)};
  }

  // The bits of a register of a type, as {bits} or {error, nearest}.
  function parseOperand(written, type) {
    const text = written.trim();
    const called = `.${type.name}`;
    if (text.length > LONGEST) {
      return {error: `an operand of ${text.length} characters is too long for this page`};
    }
    if (type.kind.sort === "bool") {
      const word = text.toLowerCase();
      return ["true", "false"].includes(word)
        ? {bits: BigInt(word === "true")}
        : {error: `operand '${text}': ${called} takes true or false`};
    }
    const digits = text.slice(2);
    if (/^0x/i.test(text) && !/[p.]/i.test(digits)) {
      // A float with a missing digit would be another number.
      const short = !type.kind.format && digits.length * 4 < type.width;
      if (!(short || digits.length * 4 === type.width) || !/^[0-9a-f]+$/i.test(digits)) {
        const wanted = `0x and ${type.width / 4} hexadecimal digits`;
        return {error: `operand '${text}': the bits of ${called} are ${wanted}; a number ends in p0, as in 0x1p0`};
      }
      return {bits: BigInt(text.toLowerCase())};
    }
    const inner = type.lanes > 1 ? text.replace(/^\((.*)\)$/s, "$1") : text;
    const lanes = inner.split(",");
    if (lanes.length !== type.lanes) {
      const hint = type.lanes > 1 ? "its bits, or its lanes as low,high" : "one number";
      return {error: `operand '${text}': ${called} takes ${hint}`};
    }
    const read = lanes.map(lane => parseLane(lane.trim(), type));
    return read.find(lane => lane.error) ?? {bits: type.pack(read.map(lane => lane.bits))};
  }

  // Bits with all digits of their width.
  const hexadecimal = (bits, width) => `0x${bits.toString(16).padStart(Math.ceil(width / 4), "0")}`;

  // A float64 as Python writes it: at least one digit after the point, exponents from 16 and below -4 on.
  function written(x) {
    const [digits, exponent] = x.toExponential().split("e");
    const [plain, e] = [digits.replace(".", ""), Number(exponent)];
    if (e < -4 || e >= 16) {
      return `${digits}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
    }
    if (e < 0) {
      return `0.${"0".repeat(-e - 1)}${plain}`;
    }
    const whole = plain.padEnd(e + 2, "0");
    return `${whole.slice(0, e + 1)}.${whole.slice(e + 1)}`;
  }

  // The exponent of the largest power of ten that is not above a positive number.
  function floorLog10(x) {
    let exponent = Math.floor((floorLog2(x) * 30103) / 100000) - 1;
    const above = e => (e >= 0 ? number(power(10, e)) : number(1n, 0, power(10, -e)));
    while (compare(x, above(exponent + 1)) >= 0) {
      exponent += 1;
    }
    return exponent;
  }

  // A positive number over 10**places as an integer and the remainder.
  function inTens(x, places) {
    return places >= 0 ? divided(x.n, x.d * power(10, places), x.e) : divided(x.n * power(10, -places), x.d, x.e);
  }

  // A number of a format of 16 bits or fewer in decimal, or as a power of two where the format has nothing else. For
  // another one, and for one with more than 17 digits, which is marked: the shortest decimal that reads back as the
  // same number, or the number itself where that is as short. inf and nan are as Python writes them.
  function decimal(bits, f) {
    let sign = f.isNegative(bits) ? "-" : "";
    if (f.isNaN(bits)) {
      return "nan";
    }
    if (f.isInfinite(bits)) {
      return `${sign}inf`;
    }
    const x = magnitudeOf(decode(bits, f));
    if (x.n === 0n) {
      return `${sign}0.0`;
    }
    if (!f.fractionBits) {
      return `${sign}2^${floorLog2(x)}`;
    }
    if (f.width <= NARROW) {
      const whole = decimalNumber(x, DIGITS);
      if (!whole.includes("...")) {
        return sign + whole;
      }
      sign = ABOUT + sign;
    }
    const exact = written(Number(x.n) * 2 ** x.e);
    const top = floorLog10(x);
    for (let count = 1; count < 18; count += 1) {
      const places = top + 1 - count;
      const [whole, rest, divisor] = inTens(x, places);
      const twice = 2n * rest;
      const digits = twice > divisor || (twice === divisor && whole & 1n) ? whole + 1n : whole;
      const text = `${digits}e${places}`;
      if (roundTo(parseNumber(text).value, f, NEAREST, false) === f.magnitude(bits)) {
        const short = written(Number(text));
        return sign + (short.length < exact.length ? short : exact);
      }
    }
    return sign + exact;
  }

  // A number as a hexadecimal float. After the point, digits beyond `most` are cut off, with dots in their place; a
  // number that is not a sum of powers of two has no last digit.
  function hexNumber(x, most = Infinity) {
    const sign = x.n < 0n ? "-" : "";
    if (x.n === 0n) {
      return `${sign}0x0p+0`;
    }
    const size = magnitudeOf(x);
    const exponent = floorLog2(size);
    let [, rest, divisor] = divided(size.n, size.d, size.e - exponent);
    let digits = "";
    while (rest && digits.length < most) {
      rest *= 16n;
      digits += (rest / divisor).toString(16);
      rest %= divisor;
    }
    const shown = digits ? `.${digits}` : "";
    return `${sign}0x1${shown}${rest ? "..." : ""}p${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
  }

  function hexFloat(bits, f) {
    return (f.isNegative(bits) ? "-" : "") + hexNumber(magnitudeOf(decode(bits, f)));
  }

  // A number in decimal. Digits beyond `most` are cut off, with dots in their place.
  function decimalNumber(x, most) {
    const sign = x.n < 0n ? "-" : "";
    if (x.n === 0n) {
      return `${sign}0.0`;
    }
    const size = magnitudeOf(x);
    const exponent = floorLog10(size);
    const [whole, rest] = inTens(size, exponent + 1 - most);
    const dots = rest ? "..." : "";
    let digits = rest ? `${whole}` : `${whole}`.replace(/0+$/, "");
    if (exponent >= -5 && exponent < 0) {
      return `${sign}0.${"0".repeat(-exponent - 1)}${digits}${dots}`;
    }
    if (exponent >= 0 && exponent < most) {
      digits = digits.padEnd(exponent + 2, "0");
      return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}${dots}`;
    }
    const e = `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
    return `${sign}${digits[0]}.${digits.slice(1) || "0"}${dots}e${e}`;
  }

  // A fixed-point number as a quotient of integers.
  function fixedText(bits, fixed) {
    let [n, d] = [fixed.value(bits), 1n << BigInt(fixed.point)];
    while (d > 1n && !(n & 1n)) {
      [n, d] = [n >> 1n, d >> 1n];
    }
    return d > 1n ? `${n}/${d}` : `${n}`;
  }

  // A value for people: for a float, decimal, hexadecimal float and bits.
  function describe(bits, kind) {
    const {format: f, fixed, sort, width} = kind;
    if (sort === "bool") {
      return bits ? "true" : "false";
    }
    const encoded = hexadecimal(bits, width);
    if (fixed) {
      return `${fixedText(bits, fixed)} ${encoded}`;
    }
    if (!f) {
      return encoded;
    }
    if (f.isNaN(bits)) {
      return `${f.isIeee && !(bits & f.quietBit) ? "sNaN" : "NaN"} ${encoded}`;
    }
    if (f.isInfinite(bits)) {
      return `${f.isNegative(bits) ? "-" : "+"}inf ${encoded}`;
    }
    return `${decimal(bits, f)} ${hexFloat(bits, f)} ${encoded}`;
  }

  // The same in parts, for one lane: empty where it has none.
  function tellLane(bits, kind) {
    const {format: f, fixed, sort, width} = kind;
    const binary = bits.toString(2).padStart(width, "0");
    const told = {text: describe(bits, kind), decimal: "", hexFloat: "", bits: hexadecimal(bits, width), class: ""};
    if (!f) {
      told.decimal = sort === "bool" ? told.text : fixed ? fixedText(bits, fixed) : "";
      told.fields = sort === "bool" ? [] : [["bits", binary]];
      return told;
    }
    const at = Number(f.signed);
    const parts = [
      ["sign", binary.slice(0, at)],
      ["exponent", binary.slice(at, at + f.exponentBits)],
      ["fraction", binary.slice(at + f.exponentBits)],
    ];
    told.fields = parts.filter(([, digits]) => digits);
    told.decimal = decimal(bits, f);
    told.hexFloat = f.isFinite(bits) ? hexFloat(bits, f) : "";
    told.class = f.classOf(bits);
    return told;
  }

  Object.assign(exact, {
    decimal, decimalNumber, describe, fixedText, floorLog10, hexNumber, hexadecimal, inTens, nearestName, parseOperand,
    tellLane,
  });
})();
