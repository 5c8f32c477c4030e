// Why a step's value is what it is: what was rounded, compared, chosen and looked up on the way, in the order of doing.
// An account is made by doing the step once more; of a choice it gives only the side that was taken.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {functions, readingOf, roundingOf, unrounded} = exact;

  const CLASSIFYING = new Set([
    "isNormal", "isFinite", "isZero", "isSubnormal", "isInfinite", "isNaN", "isSignaling", "isSignMinus",
  ]);
  const COMPARING = /^(compare[A-Z]|(less|same)(Integer|Bits))/;
  const WRAPPING = {
    congruent: x => x,
    addIntegers: (x, y) => x + y,
    subtractIntegers: (x, y) => x - y,
    multiplyIntegers: (x, y) => x * y,
  };
  const EXTREMES = {
    maximum: "a NaN operand makes it a NaN",
    minimum: "a NaN operand makes it a NaN",
    maximumNumber: "a NaN stands for no operand",
    minimumNumber: "a NaN stands for no operand",
  };

  // The relation of two values that were compared.
  function relationOf({format: f, fixed, width}, x, y) {
    if (f && (f.isNaN(x) || f.isNaN(y))) {
      return "unordered";
    }
    let [less, greater] = [x < y, x > y];
    if (f) {
      const t = {arguments: [{kind: {format: f, width}}]};
      [less, greater] = [functions.compareLess(t, x, y), functions.compareGreater(t, x, y)];
    } else if (fixed) {
      [less, greater] = [fixed.value(x) < fixed.value(y), fixed.value(x) > fixed.value(y)];
    }
    return less ? "less" : greater ? "greater" : "equal";
  }

  // What the specification calls a value; nothing where it is a number, or computed on the way.
  function nameOf(term, labels) {
    if (term.name !== undefined) {
      return labels[term.name] || term.name.replace(/_\d+$/, "");
    }
    const inner = term.arguments?.length === 1 ? nameOf(term.arguments[0], labels) : "";
    return inner && `${term.function}(${inner})`;
  }

  // What happened in an application; null where there is nothing to say.
  function accountOf(t, operands, result, labels) {
    const kind = t.arguments[0].kind;
    if (unrounded[t.function]) {
      const found = unrounded[t.function](t, ...operands);
      return found.invalid
        ? {what: "invalid", function: t.function, reason: found.invalid, kind: t.kind, result}
        : roundingOf(t, found, result);
    }
    if (CLASSIFYING.has(t.function)) {
      const [bits] = operands;
      return {what: "class", name: nameOf(t.arguments[0], labels), kind, bits, found: kind.format.classOf(bits)};
    }
    if (COMPARING.test(t.function)) {
      const names = t.arguments.map(a => nameOf(a, labels));
      return {what: "relation", names, kind, values: operands, holds: relationOf(kind, ...operands)};
    }
    if (EXTREMES[t.function]) {
      const hasNan = t.kind.format && operands.some(x => t.kind.format.isNaN(x));
      const nans = hasNan ? EXTREMES[t.function] : "";
      return {what: "extreme", function: t.function, kind: t.kind, values: operands, result, nans};
    }
    if (WRAPPING[t.function] && t.kind.fixed) {
      const numbers = t.arguments.flatMap((a, i) => (a.kind.fixed ? [a.kind.fixed.value(operands[i])] : []));
      const whole = WRAPPING[t.function](...numbers);
      return whole === t.kind.fixed.value(result) ? null : {what: "wrapped", exact: whole, kind: t.kind, result};
    }
    if (t.model) {
      const [operand] = operands;
      return {what: "lookup", model: t.model, kind: t.kind, operand, result, reading: readingOf(t.model, operand)};
    }
    return null;
  }

  const written = (key, x) =>
    typeof x === "bigint" ? `${x}` : key === "model" || key === "kind" || key === "to" ? x?.name : x;

  // The file of a line, with its number where that is known.
  const sourceOf = ({path, line}) => line ? `${path}:${line}` : path;

  // What happened in a step, as {place, account}: each with the line of the specification that says so.
  function events(programs, program, step) {
    const labels = Object.fromEntries(program.lets.map(({name, label}) => [name, label]));
    const found = new Map();

    function value(term, around) {
      if (term.value !== undefined || term.name !== undefined) {
        return term.value ?? step.values[term.name];
      }
      const place = programs.origin(term) ?? around;
      if (term.function === "select") {
        const [test, then, other] = term.arguments;
        return value(value(test, place) ? then : other, place);
      }
      const operands = term.arguments.map(a => value(a, place));
      const result = term.evaluate(term, ...operands);
      const account = accountOf(term, operands, result, labels);
      if (account) {
        found.set(JSON.stringify([place, account], written), {place, account});
      }
      return result;
    }

    value(step.assignment.value, sourceOf(step.assignment));
    return [...found.values()];
  }

  Object.assign(exact, {events, sourceOf});
})();
