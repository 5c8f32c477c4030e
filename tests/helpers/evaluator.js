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
  parse: ({opcode, spelling, operands, register, texts}) => {
    const e = evaluatorOf(opcode);
    return texts.map(text => e.parse(text, e.find(spelling, operands).sources[register]));
  },
  refusal: ({opcode, spelling, operands, target}) => {
    const e = evaluatorOf(opcode);
    const variant = e.find(spelling, operands);
    return e.run(variant, variant.sources.map(() => 0n), {target}).error ?? null;
  },
  // How rows of operands come to their results.
  steps: ({opcode, spelling, operands, target, rows}) => {
    const e = evaluatorOf(opcode);
    const told = step => ({...step, told: step.told(), whole: step.told(true)});
    return rows.map(row => {
      const found = e.run(e.find(spelling, operands), row.map(BigInt), {target});
      return found.error ? found : {...found, steps: found.steps.map(told)};
    });
  },
  // The results of columns of registers, as integers of 64 bits in base64.
  results: ({opcode, spelling, operands, target, columns}) => {
    const e = evaluatorOf(opcode);
    const variant = e.find(spelling, operands);
    const given = columns.map(text => new BigUint64Array(new Uint8Array(Buffer.from(text, "base64")).buffer));
    const found = variant.results.map(() => new BigUint64Array(given[0].length));
    for (let row = 0; row < given[0].length; row += 1) {
      const {results} = e.run(variant, given.map(column => column[row]), {target, steps: false});
      results.forEach(({bits}, i) => {
        found[i][row] = bits;
      });
    }
    return found.map(column => Buffer.from(column.buffer).toString("base64"));
  },
  // Terms of data that no page has, for rows of the values of x, y, z and w.
  apply: ({data, terms, rows}) => {
    const programs = new exact.Programs(data);
    const values = rows.map(row => Object.fromEntries(row.map((x, i) => ["xyzw"[i], BigInt(x)])));
    return terms.map(place => values.map(row => exact.evaluate(programs.term(place), row)));
  },
  page: ({data, spelling, bits, target}) => {
    const e = exact.evaluatorOf(data);
    return e.run(e.find(spelling), [BigInt(`0x${bits}`)], {target});
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
