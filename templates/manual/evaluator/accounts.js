// Why a step's value is what it is: what was rounded, compared, chosen and looked up on the way.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});

  function told() {
    return [];
  }

  Object.assign(exact, {told});
})();
