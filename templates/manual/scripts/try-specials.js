// The table of special operands: what a variant makes of NaNs, zeros, subnormals, infinities and the ends of the range.
// Two operands at a time, the others as they stand in their fields.
//   ptxspec.showSpecials(box, variant, bits, {target, axes}); `axes` are the places of the operands that vary
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // A result by its name where it has one, in numbers else; lanes that are alike once.
  function cell(registers, found, names) {
    const texts = registers.map((register, i) => {
      const {bits} = found[i];
      const named = names[i].get(bits);
      const lanes = ptxspec.evaluator.tell(bits, register).map(lane => lane.decimal || lane.bits);
      return named ?? (lanes.every(text => text === lanes[0]) ? lanes[0] : lanes.join(", "));
    });
    return texts.join(" | ");
  }

  const kindOf = text => (/^s?NaN$|^nan$/.test(text) ? "nan" : /inf/.test(text) ? "infinite" : null);

  ptxspec.showSpecials = (box, variant, operands, {target, axes}) => {
    const {evaluator} = ptxspec;
    const specials = evaluator.specials(variant);
    // Special values of each result, by their bits; a finite number is told by its digits.
    const names = variant.results.map(result => {
      const {values} = evaluator.specials({sources: [result]})[0];
      return new Map(values.filter(({label}) => /subnormal|largest|NaN/.test(label)).map(({label, bits}) => [bits, label]));
    });
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
