// The fields of a variant's operands.
//   ptxspec.operandFields(box, changed) -> {show(variant, texts), read()}
// `show` makes the fields of a variant and fills in `texts`, which are given by the names of registers. `read` shows beside
// each field its value or an error, and gives [{source, text, bits or error}].
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // The values of fields that nobody has filled in: the first that a type has.
  const STARTS = [["1.1", "2.3", "0.7"], ["3", "5", "1"], ["true", "true", "true"]];

  // A text for each lane.
  function spread(texts, lanes) {
    return Array.from({length: lanes}, (_, i) => texts[Math.min(i, texts.length - 1)]).join(",");
  }

  const readable = (text, source) => !ptxspec.evaluator.parse(text, source).error;

  function start(source, place) {
    const filled = STARTS.map(texts => spread([texts[place % texts.length]], source.lanes));
    return filled.find(text => readable(text, source)) ?? "";
  }

  // The number of each lane, or its bits where it has none.
  function told(bits, source) {
    return ptxspec.evaluator.tell(bits, source).map(lane => lane.decimal || lane.bits);
  }

  ptxspec.operandFields = (box, changed) => {
    let fields = []; // [{source, input, note}]
    const written = {}; // The last text of the field of a register of a type.
    const key = source => `${source.name} ${source.type}`;

    // A field of another type takes the text of the one before, or its numbers; a text that was not complete is
    // replaced.
    function carried(source, place, before) {
      const known = written[key(source)];
      if (known !== undefined || !before) {
        return known ?? start(source, place);
      }
      const text = before.input.value;
      const {bits} = ptxspec.evaluator.parse(text, before.source);
      if (bits === undefined) {
        return text || start(source, place);
      }
      const numbers = spread(told(bits, before.source), source.lanes);
      return [text, numbers].find(each => readable(each, source)) ?? start(source, place);
    }

    function field(source, place, before) {
      const id = `try-operand-${source.name}`;
      const input = element("input", {
        id, type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
        "aria-describedby": `${id}-told`, size: "12", maxlength: "6000",
      });
      input.value = carried(source, place, before);
      const note = element("p", {id: `${id}-told`, class: "told"});
      const lanes = source.lanes > 1 ? `, ${source.lanes} lanes, the lowest first` : "";
      const label = element("label", {for: id}, element("code", {}, source.name),
        element("span", {class: "muted"}, ` .${source.type}${lanes}`));
      box.append(element("div", {class: "field"}, label, input, note));
      input.addEventListener("input", () => {
        written[key(source)] = input.value;
        changed();
      });
      return {source, input, note};
    }

    return {
      show(variant, texts = {}) {
        const same = fields.length === variant.sources.length
          && fields.every(({source}, i) => key(source) === key(variant.sources[i]));
        if (!same) {
          const before = Object.fromEntries(fields.map(f => [f.source.name, f]));
          box.replaceChildren();
          fields = variant.sources.map((source, i) => field(source, i, before[source.name]));
        }
        for (const f of fields) {
          f.source = variant.sources.find(s => s.name === f.source.name);
          if (texts[f.source.name] !== undefined) {
            f.input.value = written[key(f.source)] = texts[f.source.name];
          }
        }
      },
      read() {
        return fields.map(({source, input, note}) => {
          const text = input.value.trim();
          const found = text ? ptxspec.evaluator.parse(text, source) : {error: "a value is required"};
          const wrong = found.error !== undefined;
          input.setAttribute("aria-invalid", String(wrong));
          note.classList.toggle("wrong", wrong);
          if (wrong) {
            // The field says which operand it is.
            note.textContent = found.error.replace(/^operand '.*?':? (?=\.\w|is |\w+ has |the bits )/s, "");
          } else {
            const lanes = ptxspec.evaluator.tell(found.bits, source);
            note.textContent = lanes.map(lane => lane.text).join(", ");
          }
          return {source, text, ...found};
        });
      },
    };
  };
})();
