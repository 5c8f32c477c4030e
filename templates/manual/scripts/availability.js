// The matrix of availability, filtered by words and by target.
(() => {
  "use strict";
  const words = document.getElementById("words"), column = document.getElementById("column");
  // Each text stands for the spellings of several variants; the number of operands may follow it.
  function spelled(text) {
    const [notation, ...counted] = text.split(" ");
    return ptxspec.expand(notation).map(spelling => [spelling, ...counted].join(" ").toLowerCase());
  }
  const rows = Array.from(document.getElementById("rows").rows, row => ({
    row, forms: Array.from(row.getElementsByTagName("code"), code => [code, spelled(code.textContent)]),
    // What stands in each column: a cell may be as wide as several.
    cells: Array.from(row.cells).flatMap(cell => Array(cell.colSpan).fill(cell.textContent)),
  }));
  // A word begins a part of the spelling, so that f16 is not bf16; with a dot it may stand anywhere.
  function has(text, word) {
    return word.includes(".") ? text.includes(word) : text.split(/[. ]/).some(part => part.startsWith(word));
  }
  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/), place = Number(column.value);
    let count = 0;
    for (const {row, forms, cells} of rows) {
      row.hidden = true;
      for (const [code, spellings] of forms) {
        const found = place > 0 && !cells[place] ? [] : spellings.filter(text => wanted.every(w => has(text, w)));
        code.hidden = !found.length;
        row.hidden &&= code.hidden;
        count += found.length;
      }
    }
    document.getElementById("count").textContent = count;
  }
  words.addEventListener("input", filter);
  column.addEventListener("change", filter);
  filter();
})();
