// "Try it": the evaluator of an opcode's page. It always shows one state, which the page's address carries: a variant,
// the texts of its operands and a target. An error is shown beside its field, and the last result stays, greyed.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {element, evaluator} = ptxspec;
  const $ = name => document.getElementById(`try-${name}`);
  if (!$("form")) {
    return;
  }
  if (!evaluator) {
    $("stale").textContent = "The form does not work because script files of this page are missing.";
    return;
  }
  const meanings = JSON.parse($("form").dataset.meanings);
  const current = $("form").dataset.current.split(" ");
  const products = Object.fromEntries(ptxspec.data.targets.map(t => [t.name, t.products.slice(0, 2).join(", ")]));

  let variant = null;
  let wanted = ""; // The target that was asked for last, even if this variant does not differ on it.
  let answer = null; // What is shown: {variant, fields, target, results, steps}.

  const target = () => $("target").value;
  const spellings = new Map();
  for (const {spelling} of evaluator.variants) {
    spellings.set(spelling, (spellings.get(spelling) ?? 0) + 1);
  }
  const counted = ({spelling, operands}) => (spellings.get(spelling) > 1 ? `${operands} operands` : "");
  const named = v => (counted(v) ? `${v.spelling} with ${counted(v)}` : v.spelling);
  const option = v => ({text: v.spelling, note: counted(v), variant: v});

  function say(name, wrong, ...parts) {
    const note = $(`${name}-told`);
    note.replaceChildren(...parts);
    note.classList.toggle("wrong", wrong);
    $(name).setAttribute("aria-invalid", String(wrong));
  }

  // The others that a text may mean, each as a button that chooses it.
  function offers(spellings) {
    return spellings.flatMap((spelling, i) => {
      const button = element("button", {type: "button", class: "offer"}, spelling);
      button.addEventListener("click", () => choose(evaluator.find(spelling)));
      return [i ? " " : "", button];
    });
  }

  // A link to the page of another opcode that has the spelling.
  function elsewhere(spelling) {
    const [opcode] = spelling.split(".");
    const known = opcode !== evaluator.opcode && ptxspec.data.opcodes[opcode];
    return known && ptxspec.find(spelling).length
      ? [element("a", {href: `${opcode}.html${ptxspec.writeLink({spelling, texts: {}})}`}, spelling),
        " is on another page. "] : [];
  }

  const before = () =>
    (answer ? `The last result of ${named(answer.variant)} is shown.` : "There is no result yet.");

  function stale(why) {
    $("stale").textContent = why;
    $("results").parentElement.classList.toggle("stale", Boolean(why));
    $("trace").classList.toggle("stale", Boolean(why));
    for (const name of ["link", "ptx", "command"]) {
      $(`copy-${name}`).disabled = Boolean(why);
    }
  }

  // Only targets with other results are offered, and the one that was asked for.
  function offerTargets() {
    const having = evaluator.targetsOf(variant);
    const differing = evaluator.differing(variant);
    const asked = having.includes(wanted) && !differing.includes(wanted) ? [wanted] : [];
    const offer = name => element("option", {value: name}, products[name] ? `${name} (${products[name]})` : name);
    $("target").replaceChildren(
      element("option", {value: ""}, "documented behaviour"), ...[...differing, ...asked].map(offer));
    $("target").value = [...differing, ...asked].includes(wanted) ? wanted : "";
    $("target").disabled = !differing.length && !asked.length;
    if (wanted && !target()) {
      const known = evaluator.targets.includes(wanted);
      say("target", true, known ? `${wanted} does not support ${variant.spelling}` : `there is no target ${wanted}`);
    } else if (asked.length) {
      say("target", false, `${wanted} has the documented behaviour`);
    } else {
      say("target", false, differing.length ? "" : "the same on every target");
    }
  }

  function showSpecials() {
    if (!$("specials").open || answer?.variant !== variant) {
      return;
    }
    const axes = $("axes").value.split(",").map(Number);
    const bits = answer.fields.map(f => f.bits);
    ptxspec.showSpecials($("table"), answer.variant, bits, {target: answer.target, axes});
  }

  function offerAxes() {
    const names = variant.sources.map(({name}) => name);
    const pairs = names.flatMap((_, i) => names.slice(i + 1).map((_, j) => [i, i + 1 + j]));
    const axes = names.length === 1 ? [[0]] : pairs;
    const chosen = $("axes").value;
    $("axes").closest("p").hidden = axes.length === 1;
    $("axes").replaceChildren(...axes.map(places =>
      element("option", {value: places.join(",")}, places.map(place => names[place]).join(" and "))));
    $("axes").value = axes.some(places => places.join(",") === chosen) ? chosen : axes[0].join(",");
  }

  function showAnswer() {
    const {results, steps, claim, hazard, implied} = answer;
    ptxspec.showResults($("results"), answer.variant, results);
    $("claim").replaceChildren(element("strong", {}, claim), `: ${meanings[claim]}.`,
      ...(hazard ? [element("span", {class: "hazard"}, ` Hazard: ${hazard}`)] : []));
    const idle = ptxspec.showTrace($("trace"), answer.variant, steps, $("everything").checked);
    const by = answer.target || "the spelling";
    $("implied").textContent = implied.length ? `The computation also uses .${implied.join(" and .")}, because ${by} implies it.` : "";
    $("everything").disabled = !idle;
    $("idle").textContent = idle
      ? `Show ${idle} more step${idle === 1 ? "" : "s"} without effect` : "Every step had an effect";
    later("specials", showSpecials);
    const told = answer.variant.results.map(({name, ...register}, i) =>
      `${name} is ${evaluator.tell(results[i].bits, register).map(lane => lane.decimal || lane.bits).join(", ")}`);
    later("status", () => ($("status").textContent = told.join("; ")));
  }

  // Screen readers, the address and slow work wait until the user stops typing.
  const waiting = {};
  function later(name, act) {
    clearTimeout(waiting[name]);
    waiting[name] = setTimeout(act, 400);
  }

  const link = () => ptxspec.writeLink({
    spelling: answer.variant.spelling,
    texts: Object.fromEntries(answer.fields.map(({source, text}) => [source.name, text])),
    target: answer.target,
  });

  function update({address = true} = {}) {
    const read = fields.read();
    const wrong = read.filter(f => f.error !== undefined).map(f => f.source.name);
    if (wrong.length) {
      stale(`${wrong.join(" and ")} ${wrong.length > 1 ? "are" : "is"} not valid. ${before()}`);
      return;
    }
    const found = evaluator.run(variant, read.map(f => f.bits), {target: target() || null});
    if (found.error) {
      say("target", true, found.error);
      stale(before());
      return;
    }
    answer = {variant, fields: read, target: target(), ...found};
    stale("");
    showAnswer();
    if (address) {
      const there = location.href; // A user who has gone to another address meanwhile stays there.
      later("address", () => location.href === there && history.replaceState(history.state, "", link()));
    }
  }

  function choose(found, {texts = {}, said = [], address = true} = {}) {
    variant = found;
    combobox.set(option(found));
    say("variant", said.length > 0, ...(said.length ? said : [element("code", {}, ptxspec.statement(found))]));
    offerTargets();
    fields.show(found, texts);
    offerAxes();
    update({address});
  }

  function refuse(text) {
    const there = elsewhere(text);
    const said = text ? [`There is no variant ${text}. `, ...there, "Nearest: "] : ["The field is empty. Nearest: "];
    say("variant", true, ...said, ...offers(evaluator.nearest(text || evaluator.opcode)));
    stale(before());
  }

  function restore() {
    clearTimeout(waiting.address);
    const state = ptxspec.readLink(location.hash);
    if (!state) {
      return false;
    }
    const {spelling, operands, texts, target: asked} = state;
    const exact = evaluator.find(spelling, operands);
    const found = exact ?? evaluator.find(spelling) ?? evaluator.find(evaluator.nearest(spelling)[0]);
    // An anchor of the page that looks like a spelling.
    if (!location.hash.startsWith("#try=") && !exact) {
      return false;
    }
    const said = [];
    const names = found.sources.map(({name}) => name);
    const strangers = Object.keys(texts).filter(name => !names.includes(name));
    const missing = Object.keys(texts).length ? names.filter(name => texts[name] === undefined) : [];
    if (!exact && found.spelling !== spelling && !evaluator.find(spelling)) {
      said.push(spelling ? `The link asks for ${spelling}, which does not exist (any more). ` : "The link names no variant. ",
        ...elsewhere(spelling), `Nearest: ${found.spelling}. `);
    }
    if (strangers.length) {
      said.push(`The link also gives ${strangers.join(" and ")}, which ${found.spelling} does not have. `);
    }
    if (missing.length) {
      said.push(`The link gives no value for ${missing.join(" and ")}. `);
    }
    wanted = asked ?? "";
    choose(found, {texts, said, address: false});
    if (location.hash.startsWith("#try=")) {
      const heading = document.getElementById("try");
      heading.tabIndex = -1;
      heading.focus({preventScroll: true});
      heading.scrollIntoView({block: "start"});
    }
    return true;
  }

  const fields = ptxspec.operandFields($("operands"), () => update());
  const combobox = ptxspec.combobox({
    input: $("variant"),
    list: $("variants"),
    button: $("all"),
    options: () => evaluator.variants.map(option),
    exactly: text => {
      const found = evaluator.find(text);
      return found && option(found);
    },
    choose: chosen => choose(chosen.variant),
    refuse,
  });
  $("form").addEventListener("submit", event => event.preventDefault());
  $("target").addEventListener("change", () => {
    wanted = target();
    offerTargets();
    update();
  });
  $("everything").addEventListener("change", () => answer && showAnswer());
  $("specials").addEventListener("toggle", showSpecials);
  $("axes").addEventListener("change", showSpecials);
  const told = text => ($("copied").textContent = text);
  const {copyButton, evalCommand, ptxModule} = ptxspec;
  copyButton($("copy-link"), () => location.href.replace(/#.*$/s, "") + link(), told);
  copyButton($("copy-ptx"), () => ptxModule({...answer, target: answer.target || null, current}), told);
  copyButton($("copy-command"), () => evalCommand(answer), told);
  addEventListener("hashchange", restore);
  if (!restore()) {
    choose(evaluator.find($("variant").value), {texts: JSON.parse($("form").dataset.texts ?? "{}"), address: false});
  }
})();
