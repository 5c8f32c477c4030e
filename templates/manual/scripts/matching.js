// Matches words that somebody types with the spellings of all variants and with names. Adds
//   ptxspec.variants        [[{text, row, spelling, operands}]]: for each of ptxspec.rows its variants; `text` is the
//                           row's notation that it comes from
//   ptxspec.matcher(words, type)   a function of a variant: whether it has all of these words and that type. A
//                           word begins a part of the spelling, so that f16 is not bf16, or is what types are called,
//                           such as fp8; with a dot it may be anywhere
//   ptxspec.isUsed(word)    whether any variant has the word
//   ptxspec.closest(text, names)   the name that looks most like a text; null where none does
//   ptxspec.usedLike(word)  the part of a spelling that looks most like a word; null where none does
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});

  // Parts of spellings, by their numbers: a query looks once at each of these 150 or so, not at 6,000 texts.
  const parts = new Map();
  const number = part => {
    if (!parts.has(part)) {
      parts.set(part, parts.size);
    }
    return parts.get(part);
  };

  let variants = null;
  Object.defineProperty(ptxspec, "variants", {get: () => (variants ??= ptxspec.rows.map(variantsOf))});

  function variantsOf(row) {
    return row.texts.flatMap(text => ptxspec.expand(text).map(spelling => {
      const whole = (row.operands === null ? spelling : `${spelling} ${row.operands}`).toLowerCase();
      return {text, row, spelling, operands: row.operands, whole, parts: whole.split(/[. ]/).map(number)};
    }));
  }

  function asked(word) {
    if (word.includes(".")) {
      return v => v.whole.includes(word);
    }
    const meant = new Set((ptxspec.data?.called?.[word] ?? []).map(number)); // No spelling contains fp8.
    for (const [part, n] of parts) {
      if (part.startsWith(word)) {
        meant.add(n);
      }
    }
    return v => v.parts.some(n => meant.has(n));
  }

  ptxspec.matcher = (words, type = "") => {
    void ptxspec.variants; // Their parts must have numbers.
    const tests = words.map(word => asked(word.toLowerCase()));
    if (type) {
      const wanted = number(type.toLowerCase());
      tests.push(v => v.parts.includes(wanted));
    }
    return v => tests.every(test => test(v));
  };

  ptxspec.isUsed = word => {
    const has = ptxspec.matcher([word]);
    return ptxspec.variants.some(some => some.some(has));
  };

  ptxspec.usedLike = word => {
    void ptxspec.variants;
    return ptxspec.closest(word, [...parts.keys()]);
  };

  ptxspec.closest = (text, names) => {
    const wanted = text.toLowerCase();
    let best = null, least = Math.max(2, Math.ceil(wanted.length / 2));
    for (const name of names) {
      const steps = distance(wanted, name.toLowerCase(), least);
      if (steps < least) {
        [best, least] = [name, steps];
      }
    }
    return best;
  };

  // How many letters must be inserted, deleted, changed or swapped with the next to turn one text into another.
  function distance(one, two, limit) {
    if (Math.abs(one.length - two.length) >= limit) {
      return limit;
    }
    let before = [], last = Array.from({length: two.length + 1}, (_, j) => j);
    for (let i = 1; i <= one.length; i++) {
      const here = [i];
      for (let j = 1; j <= two.length; j++) {
        here[j] = Math.min(last[j] + 1, here[j - 1] + 1, last[j - 1] + (one[i - 1] !== two[j - 1]));
        if (i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1]) {
          here[j] = Math.min(here[j], before[j - 2] + 1);
        }
      }
      [before, last] = [last, here];
    }
    return last[two.length];
  }
})();
