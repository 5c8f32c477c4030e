// Runs the manual's evaluator in Node: a question of JSON in each line, an answer of JSON to each.
"use strict";
const {readFileSync} = require("node:fs");
const {join} = require("node:path");
const {createInterface} = require("node:readline");
const vm = require("node:vm");

const manual = process.argv[2];
const load = name => vm.runInThisContext(readFileSync(join(manual, name), "utf8"), {filename: name});
load("evaluator.js");
const {exact} = globalThis.ptxspec;
const evaluators = {};

function evaluatorOf(opcode) {
  if (!evaluators[opcode]) {
    load(`${opcode}.programs.js`);
    evaluators[opcode] = exact.evaluatorOf(globalThis.ptxspec.programs);
  }
  return evaluators[opcode];
}

const hex = x => x.toString(16);
const value = (_, x) => (typeof x === "bigint" ? `0x${hex(x)}` : x);

const asked = {
  functions: () => Object.keys(exact.functions),
  variants: ({opcode}) => evaluatorOf(opcode).variants.map(v => ({
    spelling: v.spelling, operands: v.operands, sources: v.sources, results: v.results, claim: v.claim,
    targets: evaluatorOf(opcode).targetsOf(v), differing: evaluatorOf(opcode).differing(v),
  })),
  find: ({opcode, text, operands}) => evaluatorOf(opcode).find(text, operands)?.spelling ?? null,
  nearest: ({opcode, text}) => evaluatorOf(opcode).nearest(text),
  parse: ({opcode, spelling, operands, texts}) => {
    const e = evaluatorOf(opcode);
    return texts.map((text, i) => e.parse(text, e.find(spelling, operands).sources[i]));
  },
  // Rows of operands without 0x; with `steps`, how each row came to its results.
  run: ({opcode, spelling, operands, target, rows, steps}) => {
    const e = evaluatorOf(opcode);
    const variant = e.find(spelling, operands);
    return rows.map(row => {
      const found = e.run(variant, row.split(" ").map(x => BigInt(`0x${x}`)), {target});
      if (found.error) {
        return found;
      }
      const results = found.results.map(r => hex(r.bits)).join(" ");
      const told = step => ({...step, told: step.told(), whole: step.told(true)});
      return steps ? {...found, results, steps: found.steps.map(told)} : results;
    });
  },
  tell: ({opcode, spelling, operands, bits}) => {
    const e = evaluatorOf(opcode);
    return bits.map(x => e.tell(BigInt(`0x${x}`), e.find(spelling, operands).results[0]));
  },
  specials: ({opcode, spelling, operands}) => {
    const e = evaluatorOf(opcode);
    return e.specials(e.find(spelling, operands));
  },
};

createInterface({input: process.stdin}).on("line", line => {
  const {ask, ...about} = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(asked[ask](about), value)}\n`);
});
