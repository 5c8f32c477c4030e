// A link such as max.html#max.NaN.f32-2 leads to the text that stands for the variant of two operands.
(() => {
  "use strict";
  function land() {
    const [, spelling, operands] = decodeURIComponent(location.hash).match(/^#(.*)-(\d+)$/) ?? [];
    for (const row of document.querySelectorAll("tr[data-operands]")) {
      for (const code of row.cells[0].getElementsByTagName("code")) {
        const found = row.dataset.operands === operands && ptxspec.expand(code.textContent).includes(spelling);
        code.classList.toggle("target", found);
        if (found) {
          code.scrollIntoView({block: "center"});
        }
      }
    }
  }

  addEventListener("hashchange", land);
  addEventListener("DOMContentLoaded", land);
})();
