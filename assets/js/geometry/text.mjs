// Text on a canvas: fonts by role, how wide a text is, and cutting to a width.

const STEP = 0.25; // sizes are rounded up to this, so that zooming measures few different widths
const MONO = 0.602; // width of a letter of the fixed-width fonts, in sizes

/** Fonts by role; sizes in units of the plane, such that no text is under the least one on screen at this zoom. */
export function fonts(tokens, zoom = 1) {
  const size = (px) => Math.max(px, Math.ceil(tokens.textLeast / zoom / STEP) * STEP);
  const [large, plain] = [size(tokens.textBody), size(tokens.textNote)];
  return {
    title: `600 ${large}px ${tokens.font}`,
    plain: `${plain}px ${tokens.font}`,
    strong: `600 ${plain}px ${tokens.font}`,
    cell: `${large}px ${tokens.mono}`,
    cellStrong: `600 ${large}px ${tokens.mono}`,
    small: `${plain}px ${tokens.mono}`,
    smallStrong: `600 ${plain}px ${tokens.mono}`,
    cellPitch: large * MONO,
    smallPitch: plain * MONO,
    line: Math.max(18, plain * 1.35),
  };
}

/** Fonts at a zoom of the stage; below the smallest zoom at which names are written, they grow no further. */
export const fontsAt = (tokens, { zoom }) => fonts(tokens, Math.max(zoom, 0.4));

/** From the middle of a line of text to its base line. */
const baseline = (font) => Number(/([\d.]+)px/.exec(font)?.[1]) * 0.35;

const MOST = 20000; // cached widths; a full cache is cleared

/** How wide texts are on a canvas; it remembers them, because every frame asks for the same ones. */
export class Ruler {
  /** @param {CanvasRenderingContext2D} canvas the context that measures */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {Map<string, number>} */
    this.widths = new Map();
  }

  /**
   * @param {string} font
   * @param {string} text
   * @returns {number}
   */
  widthOf(font, text) {
    const key = `${font}|${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > MOST) this.widths.clear();
      this.canvas.font = font;
      width = this.canvas.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }
}

/** The text, cut with an ellipsis where it is wider than `room`. */
export function cut(ruler, font, text, room) {
  if (ruler.widthOf(font, text) <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ruler.widthOf(font, `${text.slice(0, middle).trimEnd()}\u2026`) <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low).trimEnd()}\u2026` : "";
}

/**
 * A name shortened in the middle, because its last parts tell it from its neighbours: `[2].bias` of `net[2].bias`, ` \u00b7 3` or ` = 3`.
 * It keeps as many whole parts as there is room for; if that is only the last one, the beginning of the name precedes it.
 */
export function cutName(ruler, font, text, room) {
  const fits = (one) => ruler.widthOf(font, one) <= room;
  if (fits(text)) return text;
  const parts = /.((?:\[[^\]]*\]|\.\w+)*)( \u00b7 [^\u00b7]+| = [^=]+| \d+| v\d+)?$/u.exec(text);
  const version = parts?.[2] ?? "";
  const ends = (parts?.[1].match(/\[[^\]]*\]|\.\w+/g) ?? []).map((_, i, all) => all.slice(i).join("") + version);
  const withoutDot = (tail) => tail.replace(/^\./, ""); // a dot beside the ellipsis would be lost in it
  const behind = (tail) => {
    const head = tail && cut(ruler, font, text.slice(0, text.length - tail.length), room - ruler.widthOf(font, tail));
    return head && head + withoutDot(tail);
  };
  const short = ends.map((tail) => `\u2026${withoutDot(tail)}`);
  return short.slice(0, -1).find(fits) || behind(ends.at(-1) ?? version) || short.find(fits) || behind(version) || cut(ruler, font, text, room);
}

/** The first of some wordings that fits the room; if none does, the last one, cut off. */
export function firstFitting(ruler, font, ways, room) {
  return ways.find((text) => ruler.widthOf(font, text) <= room) ?? cut(ruler, font, ways.at(-1), room);
}

/** Words in lines of at most `room`; past `most` lines the last one ends in an ellipsis. */
export function wrap(ruler, font, text, room, most) {
  const lines = [];
  let line = "";
  const words = text.split(/\s+/);
  for (let i = 0; i < words.length; i++) {
    const longer = line ? `${line} ${words[i]}` : words[i];
    if (line && ruler.widthOf(font, longer) > room) {
      if (lines.length === most - 1) return [...lines, cut(ruler, font, `${line} ${words.slice(i).join(" ")}`, room)];
      lines.push(line);
      line = words[i];
    } else line = longer;
  }
  return [...lines, cut(ruler, font, line, room)];
}

/** A function that writes one text: `write(text, x, y, font, colour, align)`, y being the middle of the line. */
export function writer(context) {
  const shifts = new Map();
  context.textBaseline = "alphabetic";
  return (text, x, y, font, colour, align = "left") => {
    if (!shifts.has(font)) shifts.set(font, baseline(font));
    context.font = font;
    context.fillStyle = colour;
    context.textAlign = align;
    context.fillText(text, x, y + shifts.get(font));
  };
}
