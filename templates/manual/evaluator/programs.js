// Checked programs from data, and their runs: a straight line of single assignments for one lane of a variant.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {FixedPoint, Format, Type, functions, kindOf, unitModel} = exact;

  // The label of a condition that decides between branches: it is not a variable's.
  const CONDITION = "if";
  // The stage of an instruction's own semantics.
  const OPERATION = "operation";

  // What <opcode>.programs.js holds, read as far as it is asked for.
  class Programs {
    constructor(data) {
      this.data = data;
      this.formats = {};
      for (const [name, declared] of Object.entries(data.formats)) {
        this.formats[name] = "point" in declared ? new FixedPoint(name, declared) : new Format(name, declared);
      }
      const kinds = {};
      this.kind = name => (kinds[name] ??= kindOf(name, this.formats));
      this.types = {};
      for (const [name, declared] of Object.entries(data.types)) {
        this.types[name] = new Type(name, declared, this.kind);
      }
      this.units = data.units.map(declared => unitModel(declared, this.formats));
      this.terms = [];
      this.lets = [];
      this.programs = [];
    }

    // A term is [kind, "0x.."], a constant; [kind, "name"], a variable; [kind, operation, ...terms], an application.
    term(place) {
      if (!this.terms[place]) {
        const [kindName, what, ...places] = this.data.terms[place];
        const kind = this.kind(kindName);
        if (typeof what === "string") {
          this.terms[place] = /^\d/.test(what) ? {kind, value: BigInt(what)} : {kind, name: what};
        } else {
          const [name, format, mode, ftz, count, model] = this.data.operations[what];
          this.terms[place] = {
            kind,
            function: name,
            format: this.formats[format],
            mode: mode ?? "",
            ftz: Boolean(ftz),
            count: count ?? 0,
            model: this.units[model],
            arguments: places.map(at => this.term(at)),
            evaluate: functions[name],
            place,
          };
        }
      }
      return this.terms[place];
    }

    // The line, as path:line, that a helper returns a term in; undefined for other terms.
    origin(term) {
      return this.data.origins[term.place];
    }

    // An assignment. Its line is reached where all terms of its guard hold; for a negative one, the term -1 - it must
    // not. Its label is its name without a number after it, unless it gives another one.
    let(place) {
      if (!this.lets[place]) {
        const [name, term, stage, at, guard = [], label = name.replace(/_\d+$/, "")] = this.data.lets[place];
        const [path, line, text] = this.data.places[at];
        this.lets[place] = {
          name,
          value: this.term(term),
          label,
          stage: this.data.stages[stage],
          path,
          line,
          text,
          guard: guard.map(x => ({test: this.term(x < 0 ? -1 - x : x), outcome: x >= 0 ? 1n : 0n})),
        };
      }
      return this.lets[place];
    }

    // The results of a program come before its assignments.
    program(place, results) {
      if (!this.programs[place]) {
        const whole = this.data.programs[place];
        this.programs[place] = {
          results: whole.slice(0, results).map(at => this.term(at)),
          lets: whole.slice(results).map(at => this.let(at)),
        };
      }
      return this.programs[place];
    }
  }

  function evaluate(term, values) {
    if (term.value !== undefined) {
      return term.value;
    }
    if (term.name !== undefined) {
      return values[term.name];
    }
    return term.evaluate(term, ...term.arguments.map(a => evaluate(a, values)));
  }

  // The results' encodings (0 or 1 of a predicate) for operands, by name, given as encodings of a lane.
  function run(program, operands) {
    const values = {...operands};
    for (const {name, value} of program.lets) {
      values[name] = evaluate(value, values);
    }
    return program.results.map(term => evaluate(term, values));
  }

  // The assignments on the path that these operands take. `before` is the value that the name had, null for a new name.
  function trace(program, operands) {
    const values = {...operands};
    const named = {...operands};
    const steps = [];
    for (const assignment of program.lets) {
      const {name, label, value, guard} = assignment;
      values[name] = evaluate(value, values);
      if (label && guard.every(({test, outcome}) => evaluate(test, values) === outcome)) {
        steps.push({assignment, before: named[label] ?? null, after: values[name], values});
        if (label !== CONDITION) {
          named[label] = values[name];
        }
      }
    }
    return steps;
  }

  function reads(term, name) {
    return term.name === name || Boolean(term.arguments?.some(a => reads(a, name)));
  }

  // It gives a name a value or another value, or takes the side of a choice that is not the value as it was.
  function doesSomething({assignment: {value, guard}, before, after, values}) {
    if (before === null || before !== after || guard.length) {
      return true;
    }
    if (value.function !== "select") {
      return false;
    }
    const [test, then, other] = value.arguments;
    return (evaluate(test, values) ? then : other).name === undefined;
  }

  // Which steps do something, with the conditions that decide that such a step is reached.
  function effective(steps) {
    const does = steps.map(doesSomething);
    for (let i = steps.length - 1; i >= 0; i -= 1) {
      const {assignment: {label, name, stage}, before} = steps[i];
      const later = steps.slice(i + 1).filter((_, j) => does[i + 1 + j]).map(step => step.assignment);
      if (label === CONDITION) {
        does[i] = later.some(other => other.guard.some(({test}) => test.name === name));
      } else if (before === null && stage !== OPERATION) {
        // Something noted for a later stage.
        does[i] = later.some(other => reads(other.value, name));
      }
    }
    return does;
  }

  Object.assign(exact, {CONDITION, Programs, effective, evaluate, run, trace});
})();
