// Keeps the letters of TeX readable: TeX sets scripts of scripts, and scripts in small fractions, at half the size of the text. Here no letter
// is smaller than a simple script.

const [DISPLAY, TEXT, SCRIPT] = [0, 1, 2]; // TeX's styles; after these comes the one that is too small
const TOKEN = /\\[a-zA-Z]+|\\.|[\s\S]/g;

/**
 * The same formula with fractions in full size where they would be small, and scripts of scripts as large as scripts.
 * `\frac{x_i}{2}` in cases becomes `\dfrac{x_i}{2}`, `x_{y_{i}}` becomes `x_{y_{\scriptstyle i}}`.
 */
export function legibleTex(tex) {
  const signs = tex.match(TOKEN) ?? [];
  let at = 0;

  /** The text up to the closing brace or `\end`, or to the end. */
  function run(style) {
    let text = "";
    while (at < signs.length && signs[at] !== "}" && signs[at] !== "\\end") text += piece(style);
    return text;
  }

  function piece(style) {
    const token = signs[at++];
    if (token === "{") return `{${readGroup(style)}`;
    if (token === "^" || token === "_") return token + part(SCRIPT, style === SCRIPT);
    if (token === "\\frac") {
      const small = style === SCRIPT;
      const [above, below] = [part(small ? SCRIPT : TEXT, small), part(small ? SCRIPT : TEXT, small)];
      return `${style === TEXT ? "\\dfrac" : "\\frac"}${above}${below}`;
    }
    if (token === "\\begin") return `\\begin${part(style, false)}${run(TEXT)}${signs[at++] ?? ""}${part(style, false)}`;
    return token;
  }

  function readGroup(style) {
    const inner = run(style);
    at += 1;
    return `${inner}}`;
  }

  /** An argument: a group, a command with its own, or one sign; `small` keeps it from getting smaller. */
  function part(style, small) {
    while (/^\s$/.test(signs[at] ?? "")) at += 1;
    const grouped = signs[at] === "{";
    if (grouped) at += 1;
    const inner = grouped ? run(style) : argument(style);
    if (grouped) at += 1;
    return `{${small ? "\\scriptstyle " : ""}${inner}}`;
  }

  function argument(style) {
    let text = piece(style);
    if (text.length > 1 && text.startsWith("\\")) while (signs[at] === "{") text += piece(style);
    return text;
  }

  return run(DISPLAY);
}
