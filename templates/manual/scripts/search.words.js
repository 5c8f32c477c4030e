// The search's words: a query split into atoms, and words that are nearly the same. Adds to `ptxspec.search`
//   distance(one, other, most)  the insertions, deletions, substitutions and swaps of neighbours between two words;
//                               more than `most` counts as Infinity
//   allowed(word)               how many of them are forgiven in a word
//   nearest(word, known)        the known words that are nearly this one, the nearest alone; case does not count
//   meant(atoms)                lists of atoms: what a query means where an everyday word in it means an instruction,
//                               as in "multiply bf16"; the query itself where none does
//   phrase(query)               {name, rest, meant}: an everyday name of several words in a query, the query without it, and the
//                               query with what it means in its place; null where there is none
//   atoms(text)                 [{text, dotted, head, word}]: words and the names of spellings; `dotted` ones follow a
//                               dot, `head` ones precede one and have the `whole` word; `word` is its number in the query
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});

  search.distance = (one, other, most) => {
    if (Math.abs(one.length - other.length) > most) {
      return Infinity;
    }
    let older = [], old = Array.from({length: other.length + 1}, (_, i) => i);
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        const same = one[i - 1] === other[j - 1];
        row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (same ? 0 : 1));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
          row[j] = Math.min(row[j], older[j - 2] + 1);
        }
      }
      if (Math.min(...row) > most) {
        return Infinity;
      }
      [older, old] = [old, row];
    }
    return old[other.length] > most ? Infinity : old[other.length];
  };

  // A short word with one letter changed is another word; digits carry too much meaning in sm_90 and f32 for two.
  search.allowed = word => word.length < 3 ? 0 : word.length < 7 ? 1 : 2;

  search.nearest = (word, known) => {
    const asked = word.toLowerCase(), most = search.allowed(asked);
    let best = most + 1, found = [];
    for (const name of most ? known : []) {
      const far = search.distance(asked, name.toLowerCase(), most);
      if (far < best) {
        [best, found] = [far, [name]];
      } else if (far === best && far <= most) {
        found.push(name);
      }
    }
    return [...new Set(found)];
  };

  search.meant = atoms => {
    const isOne = ({text, dotted, head}) => !dotted && !head && Object.hasOwn(search.data.words, text.toLowerCase());
    // Next to the name of an instruction, it means something else.
    const place = atoms.some(a => !a.dotted && a.text.toLowerCase() in ptxspec.data.opcodes) ? -1 : atoms.findIndex(isOne);
    if (place < 0) {
      return [atoms];
    }
    const {text, word} = atoms[place], rest = atoms.filter(a => !isOne(a));
    return search.data.words[text.toLowerCase()].map(spelling => {
      const [opcode, ...names] = spelling.split(".");
      const named = names.map(name => ({text: name, dotted: true, head: false, word}));
      return [{text: opcode, dotted: false, head: false, word}, ...named, ...rest];
    });
  };

  const {words, called} = search.data;
  const phrases = [...new Set([...Object.keys(words), ...Object.keys(called)])].filter(name => /\W/.test(name))
    .sort((a, b) => b.length - a.length)
    .map(name => [name, new RegExp(`(?<![\\w.])${name.replace(/\W/g, "[\\s-]+")}(?![\\w.])`, "i")]);

  search.phrase = query => {
    const [name, pattern] = phrases.find(([, pattern]) => pattern.test(query)) ?? [];
    return name ? {
      name, rest: query.replace(pattern, " "), meant: query.replace(pattern, words[name]?.[0] ?? `.${called[name][0]}`),
    } : null;
  };

  search.atoms = text => text
    .replace(/->|\u2192/g, " to ")
    .split(/[\s,;()?!"'`]+/)
    .filter(word => word && word !== ".")
    .flatMap((part, word) => {
      if (/^\d+\.\d+[af]?$/i.test(part) || !part.includes(".")) {
        return [{text: part, dotted: false, head: false, word}];
      }
      return part.split(".").map((text, i) => ({text, dotted: i > 0, head: i === 0, word, ...(i ? {} : {whole: part})})).filter(atom => atom.text);
    });
})();
