// The state of "Try it" in the page's address: #try=fma.rn.bf16&a=1.5&b=0x3f80&c=-0&target=sm_75. The number of operands
// may follow the spelling, #try=max.NaN.f32-3; and the address of a variant's card, #max.NaN.f32-3, is a state too.
//   ptxspec.readLink(hash) -> {spelling, operands, texts, target} or null; `operands` is null where nothing gives it
//   ptxspec.writeLink({spelling, texts, target}) -> the hash
(() => {
  "use strict";
  const ptxspec = (globalThis.ptxspec ??= {});

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // A % that was not encoded.
    }
  }

  ptxspec.readLink = hash => {
    const text = hash.replace(/^#/, "");
    if (!text.startsWith("try=")) {
      const [, spelling, operands] = decoded(text).match(/^(\w+\.[\w.:]*?)(?:-(\d+))?$/) ?? [];
      return spelling ? {spelling, operands: operands ? Number(operands) : null, texts: {}, target: null} : null;
    }
    const [[, spelling], ...rest] = text.split("&").map(part => {
      const [, name, value = ""] = part.match(/^([^=]*)=?(.*)$/s);
      return [decoded(name), decoded(value)];
    });
    const {target = null, ...texts} = Object.fromEntries(rest.filter(([name]) => name));
    const [, named, counted] = spelling.match(/^(.*?)(?:-(\d+))?$/s);
    return {spelling: named, operands: Number(counted) || Object.keys(texts).length || null, texts, target};
  };

  ptxspec.writeLink = ({spelling, texts, target}) => {
    const kept = text => encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":");
    const parts = [["try", spelling], ...Object.entries(texts), ...(target ? [["target", target]] : [])];
    return `#${parts.map(([name, text]) => `${kept(name)}=${kept(text)}`).join("&")}`;
  };
})();
