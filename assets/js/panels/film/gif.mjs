// GIF 89a: pictures in at most 255 colours, each compressed by LZW (the format's own specification, CompuServe 1990).  Pure.

const COLOURS = 256;
const BITS = 8; // of a colour's index
const MOST_CODES = 4096;
const COARSE = 4; // bits of a channel that tell colours apart while they are counted

/**
 * An animation that repeats for ever.
 * @param {number} width
 * @param {number} height
 * @param {{ pixels: Uint8ClampedArray, hundredths: number }[]} pictures RGBA, and how long each is shown
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function gif(width, height, pictures) {
  const palette = paletteOf(pictures);
  const near = nearestIndex(palette);
  const table = palette.flat().concat(Array(3 * (COLOURS - palette.length)).fill(0));
  const parts = [ascii("GIF89a"), [...word(width), ...word(height), 0xf7, 0, 0], table, [0x21, 0xff, 11], ascii("NETSCAPE2.0"), [3, 1, 0, 0, 0]];
  for (const { pixels, hundredths } of pictures) {
    parts.push([0x21, 0xf9, 4, 0, ...word(Math.round(hundredths)), 0, 0], [0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0, BITS]);
    parts.push(...blocks(lzw(indices(pixels, near))), [0]);
  }
  parts.push([0x3b]);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { bytes.set(part, at); at += part.length; }
  return bytes;
}

const word = (n) => [n & 255, n >> 8];
const ascii = (text) => [...text].map((letter) => letter.charCodeAt(0));
const keyOf = (r, g, b) => ((r >> COARSE) << 8) | ((g >> COARSE) << 4) | (b >> COARSE);

/** The commonest colours of the first and the last picture and of some between, each the mean of those that are much alike. */
function paletteOf(pictures) {
  const counted = new Map();
  const every = Math.max(1, Math.floor(pictures.length / 8));
  for (const { pixels } of pictures.filter((_, i) => i % every === 0 || i === pictures.length - 1)) {
    for (let i = 0; i < pixels.length; i += 4) {
      const key = keyOf(pixels[i], pixels[i + 1], pixels[i + 2]);
      const sum = counted.get(key) ?? [0, 0, 0, 0];
      for (let c = 0; c < 3; c += 1) sum[c] += pixels[i + c];
      sum[3] += 1;
      counted.set(key, sum);
    }
  }
  return [...counted.values()].sort((a, b) => b[3] - a[3]).slice(0, COLOURS - 1).map(([r, g, b, n]) => [r, g, b].map((sum) => Math.round(sum / n)));
}

/** The index of the nearest colour, remembered by colours that are alike. */
function nearestIndex(palette) {
  const indices = new Map();
  return (r, g, b) => {
    const key = ((r >> 2) << 12) | ((g >> 2) << 6) | (b >> 2);
    let nearest = indices.get(key);
    if (nearest === undefined) {
      const far = palette.map(([x, y, z]) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2);
      nearest = far.indexOf(Math.min(...far));
      indices.set(key, nearest);
    }
    return nearest;
  };
}

function indices(pixels, near) {
  const numbers = new Uint8Array(pixels.length / 4);
  for (let i = 0; i < numbers.length; i += 1) numbers[i] = near(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
  return numbers;
}

/** The bytes of a picture's codes, each as wide as the table of known sequences needs. */
function lzw(data) {
  const [clear, end] = [1 << BITS, (1 << BITS) + 1];
  /** @type {number[]} */
  const bytes = [];
  let [buffer, bits, width] = [0, 0, BITS + 1];
  const write = (code) => {
    buffer |= code << bits;
    bits += width;
    while (bits >= 8) { bytes.push(buffer & 255); buffer >>>= 8; bits -= 8; }
  };
  let table = new Map();
  let next = end + 1;
  write(clear);
  let prefix = data[0];
  for (let i = 1; i < data.length; i += 1) {
    const key = (prefix << 8) | data[i];
    const code = table.get(key);
    if (code !== undefined) { prefix = code; continue; }
    write(prefix);
    if (next < MOST_CODES) {
      table.set(key, next);
      if (next === 1 << width) width += 1;
      next += 1;
    } else {
      write(clear);
      [table, next, width] = [new Map(), end + 1, BITS + 1];
    }
    prefix = data[i];
  }
  write(prefix);
  write(end);
  if (bits) bytes.push(buffer & 255);
  return bytes;
}

/** Bytes in pieces of at most 255, each behind its length. */
function blocks(bytes) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += 255) parts.push([Math.min(255, bytes.length - at)], bytes.slice(at, at + 255));
  return parts;
}
