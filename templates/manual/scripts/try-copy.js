// What a reader can copy: the command that gives the same, and PTX that runs the instruction on the same operands.
//   ptxspec.evalCommand({variant, fields, target})
//   ptxspec.ptxModule({variant, fields, target, results})
//   ptxspec.statement(variant, sign, values)   the instruction with its registers, `sign` before each, and the values of
//                                              constants by their names
//   ptxspec.copyButton(button, text, tell)     copies text(); tell(said) says that it did
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});

  // Whatever can be read as an operand has no character that is special to a shell, except spaces and parentheses.
  ptxspec.evalCommand = ({variant, fields, target}) => {
    const operands = fields.map(({text}) => text.replace(/[\s()]/g, ""));
    return ["ptxspec eval", variant.spelling, ...operands, ...(target ? ["--target", target] : []), "--trace"].join(" ");
  };

  const isPredicate = register => register.sort === "bool";
  const declared = register => (register.implicit ? "b32" : isPredicate(register) ? "pred" : `b${register.width}`);
  const filled = (statements, own, operand) => statements.replaceAll("{own}", own).replaceAll("{operand}", operand);
  const inMemory = register => (isPredicate(register) ? 32 : register.width);

  // An instruction with its registers: those of a vector operand are in braces.
  ptxspec.statement = ({spelling, results, sources}, sign = "", values = {}) => {
    const operands = [];
    const isWritten = register => !register.implicit;
    for (const {name, operand, braced} of sources.filter(isWritten)) {
      const last = operands.at(-1);
      const text = values[name] ?? sign + name;
      if (braced && last?.operand === operand) {
        last.names.push(text);
      } else {
        operands.push({operand, braced, names: [text]});
      }
    }
    const written = operands.map(({braced, names}) => (braced ? `{${names.join(", ")}}` : names.join(", ")));
    const result = results.filter(isWritten).map(({name}) => sign + name).join("|");
    return `${spelling} ${[result, ...written].join(", ")};`;
  };

  // The target and the PTX version of a module: what was asked for; else the first target that CUDA compiles for and
  // that does what the variant says.
  function placed(variant, target, current) {
    const row = ptxspec.find(variant.spelling, variant.operands)[0];
    const having = ptxspec.evaluator.targetsOf(variant);
    const safe = name => !ptxspec.hazardsOn(row, name).length;
    const first = names => names.find(safe) ?? names[0];
    const chosen = target ?? first(having.filter(name => current.includes(name))) ?? first(having);
    return {target: chosen, ptx: ptxspec.window(row, chosen)[0], hazards: ptxspec.hazardsOn(row, chosen)};
  }

  const isAtLeast = (version, major, minor) => {
    const [x, y] = version.split(".").map(Number);
    return x > major || (x === major && y >= minor);
  };

  // Operands come from memory and are read at run time: the assembler folds constants, not always to what hardware gives.
  ptxspec.ptxModule = ({variant, fields, target, results, current}) => {
    const on = placed(variant, target, current);
    const wide = isAtLeast(on.ptx, 2, 3) ? 64 : 32;
    const {hexadecimal} = ptxspec.exact;
    const given = variant.sources.map((source, i) => ({source, value: hexadecimal(fields[i].bits, inMemory(source))}));
    const loaded = given.filter(({source}) => !source.constant);
    const constants = Object.fromEntries(given.flatMap(({source, value}) => (source.constant ? [[source.name, value]] : [])));
    const every = [...variant.results, ...loaded.map(({source}) => source)];
    const load = ({source: {name, width, implicit, sort}}) => {
      if (!implicit && sort !== "bool") {
        return [`ld.volatile.global.b${width} %${name}, [try_${name}];`];
      }
      const enters = implicit ? filled(implicit[0], `%${name}`, "%t") : `setp.ne.u32 %${name}, %t, 0;`;
      return [`ld.volatile.global.b32 %t, [try_${name}];`, enters];
    };
    let place = 0;
    const store = result => {
      const bytes = inMemory(result) / 8;
      place = Math.ceil(place / bytes) * bytes;
      const at = `[%out+${place}]`;
      place += bytes;
      if (!isPredicate(result)) {
        return [`st.global.b${result.width} ${at}, %${result.name};`];
      }
      const own = `%${result.name}`;
      const leaves = result.implicit ? filled(result.implicit[1], own, "%t") : `selp.u32 %t, 1, 0, ${own};`;
      return [leaves, `st.global.u32 ${at}, %t;`];
    };
    const gives = variant.results.map(({name, width, sort}, i) =>
      `${name} = ${sort === "bool" ? Boolean(results[i].bits) : hexadecimal(results[i].bits, width)}`);
    return [
      `// ${variant.spelling} of ${fields.map(({source, text}) => `${source.name} = ${text}`).join(", ")}`,
      `// gives ${gives.join(", ")}`,
      ...(current.includes(on.target) ? [] : [`// No current CUDA release compiles for ${on.target}.`]),
      ...on.hazards.map(text => `// Hazard: ${text}`),
      `.version ${on.ptx}`,
      `.target ${on.target}`,
      ...(wide === 64 ? [".address_size 64"] : []),
      ...loaded.map(({source, value}) =>
        `.global .align ${inMemory(source) / 8} .b${inMemory(source)} try_${source.name} = ${value};`),
      `${isAtLeast(on.ptx, 2, 0) ? ".visible " : ""}.entry try_it(.param .u${wide} result)`,
      "{",
      `    .reg .u${wide} %out;`,
      "    .reg .b32 %t;",
      ...every.map(register => `    .reg .${declared(register)} %${register.name};`),
      `    ld.param.u${wide} %out, [result];`,
      ...loaded.flatMap(load).map(line => `    ${line}`),
      `    ${ptxspec.statement(variant, "%", constants)}`,
      ...variant.results.flatMap(store).map(line => `    ${line}`),
      "    ret;",
      "}",
      "",
    ].join("\n");
  };

  // Where the browser denies the clipboard to a page from disk, the old way remains.
  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = ptxspec.element("textarea", {class: "aside", "aria-hidden": "true"});
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  }

  ptxspec.copyButton = (button, text, tell) => {
    button.addEventListener("click", async () => {
      const done = await copied(text());
      button.focus();
      tell(done ? `Copied: ${button.dataset.what}` : "The browser did not allow copying");
    });
  };
})();
