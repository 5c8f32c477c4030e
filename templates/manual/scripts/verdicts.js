// Whether something is there, in a few words. Adds
//   ptxspec.verdict(row, {target, ptx})   {kind, text}: kind is "yes", "no", or "hazard" where the assembler accepts
//                                         the row's variants and the machine code does something else. Either may be "";
//                                         null where both are
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {targets, versions} = ptxspec.data;
  const order = new Map(versions.map((v, i) => [v.ptx, i]));
  const elsewhere = "but it computes something else";

  const since = ([first, last]) => (last ? `PTX ${first} to ${last}` : `PTX ${ptxspec.released(first)} on`);
  const includes = ([first, last], ptx) =>
    order.get(first) <= order.get(ptx) && (!last || order.get(ptx) <= order.get(last));

  // The kinds of the same GPUs that accept what the target itself does not.
  function siblings(row, target) {
    const {base} = targets.find(t => t.name === target);
    const own = targets.filter(t => t.name !== target && [t.name, t.base].includes(base || target));
    return own.map(t => t.name).filter(name => ptxspec.window(row, name));
  }

  function onTarget(row, target, ptx) {
    const window = ptxspec.window(row, target);
    if (!window) {
      const others = siblings(row, target);
      return {kind: "no", text: others.length ? `no, but ${others.join(" and ")}` : "no"};
    }
    if (ptx && !includes(window, ptx)) {
      const early = order.get(ptx) < order.get(window[0]);
      return {kind: "no", text: early ? `no, ${since(window)}` : `no, until PTX ${window[1]}`};
    }
    const when = ptx ? "yes" : `yes, ${since(window)}`;
    return ptxspec.hazardsOn(row, target).length
      ? {kind: "hazard", text: `${when}, ${elsewhere}`} : {kind: "yes", text: when};
  }

  function somewhere(row, ptx) {
    const taking = targets.map(t => [t.name, ptxspec.window(row, t.name)]).filter(([, window]) => window);
    const now = taking.filter(([, window]) => includes(window, ptx)).map(([name]) => name);
    if (!now.length) {
      const later = taking.map(([, window]) => window).filter(([first]) => order.get(first) > order.get(ptx));
      later.sort(([one], [two]) => order.get(one) - order.get(two));
      return {kind: "no", text: later.length ? `no, ${since(later[0])}` : "no longer"};
    }
    const wrong = now.filter(name => ptxspec.hazardsOn(row, name).length);
    if (wrong.length) {
      return {kind: "hazard", text: `yes, ${elsewhere}${wrong.length < now.length ? " on some targets" : ""}`};
    }
    return {kind: "yes", text: "yes"};
  }

  ptxspec.verdict = (row, {target, ptx}) =>
    target ? onTarget(row, target, ptx) : ptx ? somewhere(row, ptx) : null;
})();
