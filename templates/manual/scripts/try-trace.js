// Why a result is what it is: the steps of the semantics, each with its line and the values before and after it. The
// lines that had an effect are lit where the page shows them.
//   ptxspec.showTrace(box, variant, steps, everything)
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element} = ptxspec;

  // Where the page shows a line of the specification; null where it does not.
  const lineOf = ({path, line, text}) =>
    [...document.querySelectorAll(`[data-path="${CSS.escape(path)}"] .line`)]
      .find(shown => line ? shown.dataset.line === `${line}` : shown.textContent.trim() === text);

  function light(steps) {
    for (const lit of document.querySelectorAll(".line.lit")) {
      lit.classList.remove("lit");
    }
    for (const step of steps.filter(each => each.hasEffect)) {
      lineOf(step)?.classList.add("lit");
    }
  }

  // A place in the specification as a link to its line where the page shows it.
  function place(text, step) {
    const [path, line] = text.split(":");
    const shown = lineOf(step ?? {path, line});
    if (!shown) {
      return element("span", {class: "place"}, text);
    }
    const link = element("a", {href: "#semantics", class: "place"}, text);
    link.addEventListener("click", event => {
      event.preventDefault();
      shown.closest("details")?.setAttribute("open", "");
      shown.tabIndex = -1;
      shown.focus({preventScroll: true});
      shown.scrollIntoView({block: "center"});
    });
    return link;
  }

  function row(step, everything) {
    const told = step.told(everything).flatMap(({key, text, place: other}) =>
      [element("dt", {}, key), element("dd", {}, text, ...(other ? [" ", place(other)] : []))]);
    return element("li", {class: step.hasEffect ? "step" : "step idle"},
      element("p", {class: "stage"}, element("span", {}, step.stage), place(step.place, step)),
      element("pre", {class: step.hasEffect ? "lit" : null}, step.text),
      element("dl", {}, ...told));
  }

  ptxspec.showTrace = (box, variant, steps, everything) => {
    light(steps);
    const lanes = [...new Set(steps.map(step => step.lane))];
    const shown = step => everything || step.hasEffect;
    box.replaceChildren(...lanes.map(lane =>
      element("div", {},
        lanes.length > 1 ? element("h4", {}, `Lane ${lane}`) : null,
        element("ol", {class: "steps"}, ...steps.filter(step => step.lane === lane && shown(step)).map(step => row(step, everything))))));
    return steps.filter(step => !step.hasEffect).length;
  };
})();
