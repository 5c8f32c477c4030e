// Why a result is what it is: the steps of the semantics, each with its line and the values before and after it. The
// lines that had an effect are lit where the page shows them.
//   ptxspec.showTrace(box, variant, steps, everything)
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;
  const CONDITION = "if"; // The label of a condition that decides between branches.

  // Where the page shows a line of the specification; null where it does not.
  const lineOf = ({path, line}) => document.querySelector(`[data-path="${CSS.escape(path)}"] [data-line="${line}"]`);

  function light(steps) {
    for (const lit of document.querySelectorAll("[data-line].lit")) {
      lit.classList.remove("lit");
    }
    for (const step of steps.filter(each => each.hasEffect)) {
      lineOf(step)?.classList.add("lit");
    }
  }

  function place(step) {
    const text = `${step.path}:${step.line}`;
    const shown = lineOf(step);
    if (!shown) {
      return element("span", {class: "place"}, text);
    }
    const link = element("a", {href: "#semantics", class: "place"}, text);
    link.addEventListener("click", event => {
      event.preventDefault();
      shown.tabIndex = -1;
      shown.focus({preventScroll: true});
      shown.scrollIntoView({block: "center"});
    });
    return link;
  }

  function values({label, kind, before, after}) {
    const said = bits => element("code", {}, ptxspec.evaluator.describe(bits, kind));
    if (label === CONDITION) {
      return [after ? "holds" : "does not hold"];
    }
    return [element("code", {}, label), before === null || before === after ? " = " : ": ",
      ...(before === null || before === after ? [] : [said(before), " becomes "]), said(after)];
  }

  function row(step) {
    const told = step.hasEffect ? step.told : [];
    return element("li", {class: step.hasEffect ? "step" : "step idle"},
      element("p", {class: "stage"}, element("span", {}, step.stage), place(step)),
      element("pre", {class: step.hasEffect ? "lit" : null}, step.text),
      told.length
        ? element("dl", {}, ...told.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)])) : null,
      element("p", {class: "values"}, ...values(step)));
  }

  ptxspec.showTrace = (box, variant, steps, everything) => {
    light(steps);
    const lanes = [...new Set(steps.map(step => step.lane))];
    const shown = step => everything || step.hasEffect;
    box.replaceChildren(...lanes.map(lane =>
      element("div", {},
        lanes.length > 1 ? element("h4", {}, `Lane ${lane}`) : null,
        element("ol", {class: "steps"}, ...steps.filter(step => step.lane === lane && shown(step)).map(row)))));
    return steps.filter(step => !step.hasEffect).length;
  };
})();
