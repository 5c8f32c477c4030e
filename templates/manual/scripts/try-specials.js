// The table of special operands: what a variant makes of NaNs, zeros, subnormals, infinities and the ends of the range.
// Two operands vary at a time; the others are as in their fields.
//   ptxspec.showSpecials(box, variant, bits, {target, axes}); `axes` are the places of the operands that vary
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // Names of values that are not numbers with few digits, by the bits of a lane.
  function namesOf(result) {
    const {evaluator} = ptxspec;
    const [{values}] = evaluator.specials({sources: [result]});
    const named = values.filter(({label}) => /subnormal|largest|NaN/.test(label));
    return new Map(named.map(({label, bits}) => [evaluator.tell(bits, result)[0].bits, label]));
  }

  // Each lane by its name or as a number; lanes that are alike once.
  function cell(registers, found, names) {
    const texts = registers.map((register, i) => {
      const lanes = ptxspec.evaluator.tell(found[i].bits, register)
        .map(lane => names[i].get(lane.bits) ?? (/NaN/.test(lane.class) ? "NaN" : lane.decimal || lane.bits));
      return lanes.every(text => text === lanes[0]) ? lanes[0] : lanes.join(", ");
    });
    return texts.join(" | ");
  }

  const kindOf = text => (/^s?NaN$/.test(text) ? "nan" : /^-?inf$/.test(text) ? "infinite" : null);

  ptxspec.showSpecials = (box, variant, operands, {target, axes}) => {
    const {evaluator} = ptxspec;
    const specials = evaluator.specials(variant);
    const names = variant.results.map(namesOf);
    const [down, across] = axes;
    const head = element("tr", {},
      element("th", {scope: "col"}, across === undefined
        ? element("code", {}, specials[down].name)
        : element("span", {}, element("code", {}, specials[down].name), " \\ ", element("code", {}, specials[across].name))));
    const columns = across === undefined ? [null] : specials[across].values;
    for (const column of columns) {
      head.append(element("th", {scope: "col"}, column?.label ?? variant.results.map(r => r.name).join(" | ")));
    }
    const rows = specials[down].values.map(one => {
      const row = element("tr", {}, element("th", {scope: "row"}, one.label));
      for (const column of columns) {
        const given = [...operands];
        given[down] = one.bits;
        if (column) {
          given[across] = column.bits;
        }
        const {results} = evaluator.run(variant, given, {target});
        const text = cell(variant.results, results, names);
        row.append(element("td", {class: kindOf(text)}, text));
      }
      return row;
    });
    box.replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  };
})();
