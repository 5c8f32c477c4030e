// The evaluator of one opcode's page, ptxspec.evaluator, from the data that <opcode>.programs.js puts into
// ptxspec.programs:
//
//   variants               [{spelling, operands: n, sources: [register...], results: [register...], lanes, claim}],
//                          where a register is {name, operand, type, kind, sort, lanes, width, braced, negatable,
//                          implicit, constant}: for an operand whose lanes are in registers of their own there is one
//                          for each, as in a1, a0; for the condition code `implicit` has the statements that copy a word
//                          to it and from it
//   targets                the names of all targets; targetsOf(variant) are those that have it, and differing(variant)
//                          those on which it computes something else than without a target
//   find(text, operands)   the variant, with modifiers in any order; null where there is none
//   nearest(text)          up to three spellings that are most like it
//   parse(text, register)  {bits}, the register's, or {error, nearest}: 1.5, -0.0, inf, nan, 0x1.8p-3, true, lanes as
//                          low,high, or bits with all their digits
//   run(variant, bits, {target, steps: true})
//                          {results: [{name, type, bits}], lanes: [[encoding...]...], steps, claim, hazard, implied},
//                          or {error} on a target without the variant, or whose computation is too large for a page.
//                          Random bits are an operand; it is quicker without `steps`. `implied` are modifiers that act
//                          but are not spelled. A step is {lane, stage, path, line, text, place, label, kind, before,
//                          after, hasEffect, told}; `line` is 0 in a file of several opcodes, `before` is null for a
//                          new name, and a condition has the label "if".
//                          told() are rows {key, text, place} of what the value was, what was rounded, compared and
//                          chosen, and what it is, as `ptxspec eval --trace` has them; told(true) as with --trace=all.
//                          `place` has the path:line of what else decides, two of them separated by two blanks, or ""
//   tell(bits, register)   [{text, decimal, hexFloat, bits, fields: [[name, binary digits]...], class}], a lane each
//   describe(bits, kind)   a value of a step in a line
//   specials(variant)      [{name, values: [{label, bits}...]}], for each source register what is worth trying
//
// All bits are BigInt.
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});
  const exact = (ptxspec.exact ??= {});
  const {Finder, Programs, describe, effective, parseOperand, run, specialsOf, tellLane, told} = exact;
  const {sourceOf, trace, variantsOf} = exact;

  // What each lane has of an operand, whose bits are in registers in the statement's order.
  function lanesOf(operand, type, registers, lanes) {
    if (operand.lane_bits) {
      const bitAt = place => (registers[0] >> BigInt(place)) & 1n;
      return operand.lane_bits.map(places => places.reduce((x, place) => (x << 1n) | bitAt(place), 0n));
    }
    if (operand.registers) {
      const found = [];
      operand.registers.forEach((name, i) => {
        found[Number(name.slice(operand.name.length))] = type.unpack(registers[i])[0];
      });
      return found;
    }
    const found = type.unpack(registers[0]);
    return found.length === lanes ? found : Array.from({length: lanes}, () => found[0]);
  }

  // The registers of a result, in the statement's order.
  function registersOf(operand, type, lanes) {
    if (operand.registers) {
      return operand.registers.map(name => type.pack([lanes[Number(name.slice(operand.name.length))]]));
    }
    return [type.pack(lanes.slice(0, type.lanes))];
  }

  function evaluatorOf(data) {
    const programs = new Programs(data);
    const {types} = programs;
    const kinds = Object.fromEntries(Object.values(types).map(t => [t.kind.name, t.kind]));
    let variants;
    let finder;
    const every = () => (variants ??= variantsOf(data, types));
    const finding = () => (finder ??= new Finder(data.opcode, every(), types));

    const isIn = (mask, target) => ((BigInt(mask) >> BigInt(data.targets.indexOf(target))) & 1n) === 1n;
    // From pairs of a set of targets and what applies on them: what applies on a target.
    const onTarget = (pairs, target) => (target ? (pairs ?? []).find(([mask]) => isIn(mask, target))?.[1] : undefined);

    function placeOf({family, place}, target) {
      return onTarget(family.on, target)?.[place] ?? family.programs[place];
    }

    function refusal({family, spelling}, target) {
      if (!data.targets.includes(target)) {
        return `unknown target '${target}'`;
      }
      if (!isIn(family.targets, target)) {
        return `${target} does not support ${spelling}`;
      }
      return onTarget(family.on, target)?.includes(-1)
        ? `the computation on ${target} is too large for this page; run ptxspec eval --target ${target}`
        : null;
    }

    // The modifiers of a variant, those that it means and those that a target implies, in the specification's order.
    function actingOn({family, names}, target) {
      const implied = (family.implied ?? []).filter(([mask]) => target && isIn(mask, target)).map(([, name]) => name);
      const all = new Set([...names, ...(family.means ?? []), ...implied]);
      return Object.keys(data.modifiers).filter(name => all.has(name));
    }

    // Which of them decide the mode of rounding, and the flush of tiny results.
    function rulesOf(acting) {
      const rules = {modes: {}, flush: null};
      for (const name of acting) {
        const [mode, ftz, place] = data.modifiers[name];
        if (mode) {
          rules.modes[mode] = [`.${name}`, place];
        }
        if (ftz) {
          rules.flush ??= [`.${name}`, place];
        }
      }
      return rules;
    }

    function stepsOf(program, operands, lane, rules) {
      const steps = trace(program, operands);
      const does = effective(steps);
      return steps.map((step, i) => {
        const {before, after, assignment} = step;
        const {stage, path, line, text, label, value} = assignment;
        return {
          lane, stage, path, line, text, place: sourceOf(assignment), label, kind: value.kind.name, before, after,
          hasEffect: does[i],
          // Made when somebody looks at it.
          told: everything => told(programs, program, rules, step, everything),
        };
      });
    }

    // What a run of a variant on a target requires, made once; or why there is none, as {error}.
    function resolved(variant, target) {
      const known = (variant.known ??= {});
      if (!known[target ?? ""]) {
        const {family, signature, names} = variant;
        const error = target && refusal(variant, target);
        const acting = error ? [] : actingOn(variant, target);
        known[target ?? ""] = error ? {error} : {
          program: programs.program(placeOf(variant, target), signature.results.length),
          rules: rulesOf(acting),
          claim: onTarget(family.claims, target) ?? family.claim,
          implied: acting.filter(name => !names.includes(name)),
          hazard: (target ? onTarget(family.hazards, target) : family.hazard) ?? null,
        };
      }
      return known[target ?? ""];
    }

    function runVariant(variant, operands, {target = null, steps = true} = {}) {
      const {error, program, rules, claim, implied, hazard} = resolved(variant, target);
      if (error) {
        return {error};
      }
      const {signature, lanes} = variant;
      let from = 0;
      const columns = signature.sources.map(operand => {
        const count = operand.registers?.length ?? 1;
        const registers = operands.slice(from, (from += count));
        return lanesOf(operand, types[operand.type], registers, lanes);
      });
      const rows = Array.from({length: lanes}, (_, lane) => columns.map(column => column[lane]));
      const operandsOf = row => Object.fromEntries(signature.sources.map(({name}, i) => [name, row[i]]));
      const found = rows.map(row => run(program, operandsOf(row)));
      const registers = signature.results.flatMap((operand, i) =>
        registersOf(operand, types[operand.type], found.map(results => results[i])));
      return {
        results: variant.results.map(({name, type}, i) => ({name, type, bits: registers[i]})),
        lanes: rows,
        steps: steps ? rows.flatMap((row, lane) => stepsOf(program, operandsOf(row), lane, rules)) : [],
        claim,
        implied,
        hazard,
      };
    }

    return {
      opcode: data.opcode,
      targets: data.targets,
      get variants() {
        return every();
      },
      targetsOf: variant => data.targets.filter(target => isIn(variant.family.targets, target)),
      differing: variant =>
        data.targets.filter(target => placeOf(variant, target) !== placeOf(variant, null)),
      find: (text, operands) => finding().find(text, operands),
      nearest: text => finding().nearest(text),
      parse: (text, register) => parseOperand(text, types[register.type]),
      run: runVariant,
      tell: (bits, {type}) => types[type].unpack(bits).map(lane => tellLane(lane, types[type].kind)),
      describe: (bits, kind) => describe(bits, kinds[kind] ?? programs.kind(kind)),
      specials: variant => specialsOf(variant, types),
    };
  }

  let evaluator;
  Object.defineProperty(ptxspec, "evaluator", {
    configurable: true,
    get: () => (evaluator ??= ptxspec.programs && evaluatorOf(ptxspec.programs)),
  });
  Object.assign(exact, {evaluatorOf});
})();
