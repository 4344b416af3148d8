// Formulas that are wider than their place, set over several lines: broken where the terms are least tightly bound. Pure.

const TOKEN = /\\[a-zA-Z]+|\\.|[\s\S]/g;
const SUM = new Set(["+", "-"]);
const PRODUCT = new Set(["\\cdot", "\\odot"]);
const WIDE = { "\\odot": 1.25, "\\cdot": 0.75, "\\le": 1.3, "\\ge": 1.3, "\\ne": 1.3, "=": 1.36, "+": 1.2, "-": 1.2, ",": 0.5, "\\times": 1.25, "\\sum": 1.45, "\\prod": 1.3, "\\in": 1.2, "\\lfloor": 0.45, "\\rfloor": 0.45,
  "\\quad": 1, "\\,": 0.17, "\\ ": 0.25, "\\top": 0.78, "\\sigma": 0.57, "\\exp": 1.6, "\\log": 1.4, "\\ldots": 1.2, "\\_": 0.95 };
const WORDLESS = new Set(["\\mathrm", "\\operatorname", "\\text", "\\mathbf", "\\overline", "\\bar", "\\hat", "\\widehat", "\\sqrt", "\\scriptstyle", "{", "}", "^", "_", "&"]);
const SCRIPT = 0.72;
const INDENT = 1.1; // em: \quad and some room

/**
 * The formula in lines of at most `room` em: as it is where it fits, else broken after `=`, before `+ − · ⊙` and after
 * commas, in the outermost brackets in which that can be.
 */
export function wrapFormula(tex, room) {
  if (widthOf(tex) <= room) return tex;
  const pieces = cutUp(tex);
  const lines = inLines(pieces, room);
  if (lines.length < 2) return tex;
  const rows = lines.map((line, i) => `${i ? "&\\quad " : "&"}${line.map((piece) => piece.tex).join("").trim()}`);
  return `\\begin{aligned}${rows.map(plainBrackets(lines)).join(" \\\\ ")}\\end{aligned}`;
}

/** About how wide a formula is, in em. */
export function widthOf(tex) {
  const signs = tex.match(TOKEN) ?? [];
  let at = 0;

  function run(stop) {
    let sum = 0;
    while (at < signs.length && !stop(signs[at])) sum += one();
    return sum;
  }

  function argument() {
    while (/^\s$/.test(signs[at] ?? "")) at += 1;
    if (signs[at] !== "{") return one();
    at += 1;
    const inner = run((sign) => sign === "}");
    at += 1;
    return inner;
  }

  function one() {
    const token = signs[at++] ?? " ";
    if (token === "^" || token === "_") return SCRIPT * argument();
    if (token === "\\frac" || token === "\\dfrac" || token === "\\tfrac") return 0.25 + Math.max(argument(), argument());
    if (token === "\\sqrt") return 0.85 + argument();
    if (token === "\\begin") return table();
    if (token === "\\left" || token === "\\right") { at += 1; return 0.75; } // as high as what is in it
    if (WORDLESS.has(token) || /^\s$/.test(token)) return 0;
    return WIDE[token] ?? (token.startsWith("\\") ? 0.8 : /[mwMW]/.test(token) ? 0.85 : /[ijl.:|'()[\]]/.test(token) ? 0.36 : /[A-Z]/.test(token) ? 0.75 : 0.53);
  }

  function table() {
    const name = argument();
    let widest = 0;
    while (at < signs.length && signs[at] !== "\\end") {
      widest = Math.max(widest, run((sign) => sign === "\\\\" || sign === "\\end"));
      if (signs[at] === "\\\\") at += 1;
    }
    at += 1;
    argument();
    return name ? widest + 2 : widest;
  }

  return run(() => false);
}

/** The pieces between the places where a line may end: { tex, width, cost } with what it costs to begin a line with it. */
function cutUp(tex) {
  const pieces = [{ tex: "", cost: 0, depth: 0 }];
  let braces = 0;
  let tables = 0;
  let depth = 0;
  let unary = true; // a minus at the beginning of a term belongs to it
  const lastPiece = () => pieces[pieces.length - 1];
  const begin = (cost) => { if (lastPiece().tex.trim()) pieces.push({ tex: "", cost, depth }); };
  const signs = tex.match(TOKEN) ?? [];
  for (let i = 0; i < signs.length; i++) {
    const token = signs[i];
    const outside = braces === 0 && tables === 0;
    if (outside && !unary && SUM.has(token)) begin(3 * depth + 1);
    if (outside && PRODUCT.has(token)) begin(3 * depth + 2);
    lastPiece().tex += token;
    if (token === "{") braces += 1;
    else if (token === "}") braces -= 1;
    else if (token === "\\begin") tables += 1;
    else if (token === "\\end") tables -= 1;
    else if (token === "\\left" || token === "\\right") {
      depth += token === "\\left" ? 1 : -1;
      lastPiece().tex += signs[++i];
      if (token === "\\left") begin(3 * depth + 2.5); // after the bracket: where nothing else helps
    } else if (outside && token === "=" && depth === 0) begin(2.2);
    else if (outside && token === ",") begin(3 * depth);
    if (token.trim()) unary = token === "=" || token === "\\left" || token === ",";
  }
  return pieces.map((piece) => ({ ...piece, width: widthOf(piece.tex) }));
}

/** Lines of pieces: each as long as it can be, ended where it costs least, and of such places at the last. */
function inLines(pieces, room) {
  const lines = [];
  let from = 0;
  while (from < pieces.length) {
    const width = room - (lines.length ? INDENT : 0);
    let to = from;
    let sum = 0;
    while (to < pieces.length && (to === from || sum + pieces[to].width <= width)) sum += pieces[to++].width;
    if (to < pieces.length) {
      let best = to;
      for (let i = to; i > from; i--) if (pieces[i].cost < pieces[best].cost) best = i;
      to = best;
    }
    lines.push(pieces.slice(from, to));
    from = to;
  }
  return lines;
}

/** Brackets that grow with what is in them need both ends in one line; those that are broken over lines are plain ones. */
function plainBrackets(lines) {
  const open = [];
  const broken = new Set();
  let count = 0;
  lines.forEach((line, nr) => {
    for (const [token] of line.map((piece) => piece.tex).join("").matchAll(/\\left(?![a-z])|\\right(?![a-z])/g)) {
      if (token === "\\left") open.push([count, nr]);
      else {
        const [first, began] = open.pop();
        if (began !== nr) broken.add(first).add(count);
      }
      count += 1;
    }
  });
  let seen = 0;
  return (row) => row.replace(/\\left(?![a-z])|\\right(?![a-z])/g, (token) => (broken.has(seen++) ? "" : token));
}
