// What somebody may call a target or a PTX version, and which is meant. Adds
//   ptxspec.sells(target, text)      whether the GPUs of a target are sold under a name: "H100", "RTX 4090"
//   ptxspec.sold(text)               the target of such a name; undefined where there is none
//   ptxspec.nearestTarget(text)      the target of a product, or the one whose number is nearest: of those with the
//                                    same letter after it, the newer one of two; null where there is no number
//   ptxspec.nearestVersion(text)     the PTX version whose number is nearest; null where there is no number
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const {targets, versions} = ptxspec.data;
  const plain = text => text.toLowerCase().replace(/[^a-z0-9]/g, "");

  // At least two letters: an L is not an L4.
  ptxspec.sells = (target, text) => plain(text).length > 1 &&
    targets.find(t => t.name === target).products.some(p => plain(p).endsWith(plain(text)));

  ptxspec.sold = text => targets.find(t => !t.base && ptxspec.sells(t.name, text))?.name;

  ptxspec.nearestTarget = text => {
    const letter = /\d([af])$/i.exec(text)?.[1].toLowerCase() ?? "";
    const alike = targets.map(t => t.name).filter(name => (letter ? name.endsWith(letter) : /\d$/.test(name)));
    return ptxspec.sold(text) ?? nearest(text.replace(/^\D+/, ""), alike, name => name.slice("sm_".length));
  };

  ptxspec.nearestVersion = text => nearest(text, versions.map(v => v.ptx), ptx => ptx);

  function nearest(text, names, digits) {
    const wanted = parseFloat(text), off = name => Math.abs(parseFloat(digits(name)) - wanted);
    return Number.isNaN(wanted) ? null : names.reduce((best, name) => (off(name) <= off(best) ? name : best));
  }
})();
