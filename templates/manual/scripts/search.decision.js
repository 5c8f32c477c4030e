// Decides whether a target accepts a variant with a PTX version, as `ptxspec query` does. A place is
// {target, ptx}, each of which may be null: then any will do. Adds to `ptxspec.search`
//   takes(variant, place)      whether it does
//   hazards(variant, place)    what its machine code does instead: texts; without a target, on any that accepts it
//   risky(variant, place)      {on, all, last}: the targets that accept it with a hazard, whether these are all,
//                              and whether they are all from the first of them on
//   knows(target, ptx)         whether a PTX version knows a target
//   ordered(ptx)               the position of a PTX version among all
//   recipe(variant, place)     the best recipe for a variant that works there: {differs}; null where there is none
(() => {
  "use strict";
  const search = ((globalThis.ptxspec ??= {}).search ??= {});
  const {targets, versions} = ptxspec.data;
  const order = new Map(versions.map((v, i) => [v.ptx, i])), came = new Map(targets.map(t => [t.name, t.ptx]));

  search.ordered = ptx => order.get(ptx);
  search.knows = (target, ptx) => order.get(ptx) >= order.get(came.get(target));

  const within = (window, ptx) => window !== null && (ptx === null || (
    order.get(ptx) >= order.get(window[0]) && (window[1] === null || order.get(ptx) <= order.get(window[1]))));

  search.takes = (v, {target, ptx}) => {
    if (v.crash) {
      return false;
    }
    return target ? within(ptxspec.window(v.row, target), ptx) :
      targets.some(t => within(ptxspec.window(v.row, t.name), ptx));
  };

  const taking = (v, {target, ptx}) => v.crash || !Object.keys(v.row.hazards).length ? []
    : targets.filter(t => t.name === target || (!target && within(ptxspec.window(v.row, t.name), ptx))).map(t => t.name);
  search.hazards = (v, where) => [...new Set(taking(v, where).flatMap(t => ptxspec.hazardsOn(v.row, t)))];
  search.risky = (v, where) => {
    const every = taking(v, where), on = every.filter(t => ptxspec.hazardsOn(v.row, t).length);
    return {on, all: on.length === every.length, last: on.length > 1 && on.length === every.length - every.indexOf(on[0])};
  };
  const recipes = new Map();
  search.recipe = (v, {target, ptx}) => {
    if (!recipes.has(v.opcode)) {
      const found = new Map();
      for (const [texts, operands, requires, differs] of search.data.opcodes[v.opcode].recipes ?? []) {
        for (const spelling of texts.flatMap(ptxspec.expand)) {
          found.set(spelling, [...(found.get(spelling) ?? []), {operands, requires, differs}]);
        }
      }
      recipes.set(v.opcode, found);
    }
    const works = recipe => (recipe.operands === null || recipe.operands === v.operands)
      && within(ptxspec.window(recipe, target), ptx);
    if (!target) {
      return null;
    }
    return (recipes.get(v.opcode).get(v.spelling) ?? []).find(works) ?? null;
  };
})();
