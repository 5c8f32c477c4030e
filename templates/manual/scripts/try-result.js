// What a variant makes of its operands: each result's lanes as numbers, fields and bits.
//   ptxspec.showResults(box, variant, results)
//   ptxspec.bitRow(fields)     the fields of an encoding as a row of bits with labels
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // Fours from the right, as hexadecimal digits count them.
  const fours = digits => digits.replace(/\B(?=(\d{4})+$)/g, " ");

  ptxspec.bitRow = fields => {
    const said = fields.map(([name, digits]) => `${name} ${digits}`).join(", ");
    return element("div", {class: "bit-row", role: "img", "aria-label": said},
      ...fields.map(([name, digits]) =>
        element("span", {class: `bit-field ${name}`},
          element("span", {class: "digits"}, ...fours(digits).split(" ").map(four => element("span", {}, four))),
          element("span", {class: "name"}, digits.length > 1 ? `${name}, ${digits.length} bits` : name))));
  };

  function lane(told, title) {
    const numbers = [told.hexFloat, told.bits, told.class].filter(Boolean);
    return element("div", {class: "lane"},
      title ? element("h4", {}, title) : null,
      element("p", {class: "value"}, told.decimal || told.bits),
      element("p", {class: "forms"}, ...(told.fields.length ? numbers : []).flatMap((text, i) =>
        [i ? " · " : "", text === told.class ? text : element("code", {}, text)])),
      told.fields.length ? ptxspec.bitRow(told.fields) : null);
  }

  ptxspec.showResults = (box, variant, results) => {
    box.replaceChildren(...variant.results.map((declared, i) => {
      const {bits} = results[i];
      const lanes = ptxspec.evaluator.tell(bits, declared);
      const whole = lanes.length > 1 ? element("code", {}, ptxspec.exact.hexadecimal(bits, declared.width)) : null;
      return element("div", {class: "result"},
        element("h3", {}, element("code", {}, declared.name), element("span", {class: "muted"}, `.${declared.type}`), whole),
        element("div", {class: "lanes"},
          ...lanes.map((told, n) => lane(told, lanes.length > 1 ? `lane ${n}` : ""))));
    }));
  };
})();
