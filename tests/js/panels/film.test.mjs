// The times of the pictures of a film, and a GIF and a WebM that other programs read.
import assert from "node:assert/strict";
import { test } from "node:test";

import { stretchOf, timesOf } from "../../../assets/js/panels/film/film.mjs";
import { gif } from "../../../assets/js/panels/film/gif.mjs";
import { webm } from "../../../assets/js/panels/film/webm.mjs";

test("a film is the phase that one looks at, with a rest at its end", () => {
  const scene = { phases: [{ start: 0, end: 2 }, { start: 2, end: 5 }] };
  assert.equal(stretchOf(scene, 3.5), scene.phases[1]);
  assert.equal(stretchOf(scene, 5), scene.phases[1]);
  const times = timesOf(scene.phases[1], 10);
  assert.deepEqual([times[0], times[26], times[36], times.length], [2, 5, 5, 37]);
  assert.ok(times.every((t, i) => i === 0 || t >= times[i - 1]));
  assert.equal(timesOf({ start: 0, end: 1000 }, 10).length, 310);
});

/** The pixels of the first picture, by the rules of the format. */
function decoded(bytes, size) {
  const table = 13;
  let at = table + 3 * 256 + 19 + 8 + 10;
  assert.equal(bytes[at], 8);
  const data = [];
  for (at += 1; bytes[at]; at += bytes[at] + 1) data.push(...bytes.slice(at + 1, at + 1 + bytes[at]));
  let [bit, width, known, last] = [0, 9, [], null];
  const out = [];
  const sequence = (code) => (code < 256 ? [code] : known[code - 258]);
  for (;;) {
    let code = 0;
    for (let i = 0; i < width; i += 1, bit += 1) code |= ((data[bit >> 3] >> (bit & 7)) & 1) << i;
    if (code === 257) break;
    if (code === 256) { [width, known, last] = [9, [], null]; continue; }
    const now = sequence(code) ?? [...last, last[0]];
    out.push(...now);
    if (last && known.length + 258 < 4096) known.push([...last, now[0]]);
    if (known.length + 258 === 1 << width && width < 12) width += 1;
    last = now;
  }
  assert.equal(out.length, size);
  return out.map((index) => [...bytes.slice(table + 3 * index, table + 3 * index + 3)]);
}

test("the pixels of a GIF are those of the picture, also past the longest code", () => {
  const [width, height] = [160, 120];
  const shades = Array.from({ length: 200 }, (_, i) => [(i % 16) * 16 + 8, Math.floor(i / 16) * 16 + 8, 88]);
  let state = 7;
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    pixels.set([...shades[(state >>> 8) % shades.length], 255], 4 * i);
  }
  const bytes = gif(width, height, [{ pixels, hundredths: 10 }, { pixels, hundredths: 100 }]);
  assert.equal(String.fromCharCode(...bytes.slice(0, 6)), "GIF89a");
  const found = decoded(bytes, width * height);
  assert.ok(found.every((colour, i) => colour.every((channel, c) => channel === pixels[4 * i + c])));
});

const PARENTS = [0x1a45dfa3, 0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0xe0, 0x1c53bb6b, 0xbb, 0xb7, 0x1f43b675];

/** The elements of some bytes, in their order and with their positions, by the rules of EBML. */
function elements(bytes, begin = 0, end = bytes.length) {
  const found = [];
  for (let at = begin; at < end;) {
    const position = at;
    const number = (first, width) => bytes.slice(at + 1, at + width).reduce((sum, byte) => sum * 256 + byte, first);
    const idWidth = Math.clz32(bytes[at]) - 23;
    const id = number(bytes[at], idWidth);
    at += idWidth;
    const width = Math.clz32(bytes[at]) - 23;
    const length = number(bytes[at] & (0xff >> width), width);
    at += width;
    found.push({ id, position, begin: at, content: bytes.slice(at, at + length) }, ...(PARENTS.includes(id) ? elements(bytes, at, at + length) : []));
    at += length;
  }
  return found;
}

test("a WebM has its duration, and each picture at its time in a cluster that is found", async () => {
  const pictures = Array.from({ length: 40 }, (_, i) => ({ time: i * 1000, isKey: i % 36 === 0, data: Uint8Array.of(i, 7, 7) }));
  const read = elements(new Uint8Array(await new Blob(webm("V_VP9", 641, 360, 40000, pictures)).arrayBuffer()));
  const all = (id) => read.filter((one) => one.id === id);
  const numbers = (id) => all(id).map(({ content }) => content.reduce((sum, byte) => sum * 256 + byte, 0));
  const words = (id) => all(id).map(({ content }) => String.fromCharCode(...content));
  assert.deepEqual([words(0x4282), words(0x86), numbers(0xb0), numbers(0xba)], [["webm"], ["V_VP9"], [641], [360]]);
  assert.equal(new DataView(all(0x4489)[0].content.buffer).getFloat64(0), 40000);
  let begin = 0;
  const blocks = read.flatMap(({ id, content }) => {
    if (id === 0xe7) begin = content.reduce((sum, byte) => sum * 256 + byte, 0);
    return id === 0xa3 ? [{ time: begin + new DataView(content.buffer).getInt16(1), isKey: content[3] === 0x80, data: content.slice(4) }] : [];
  });
  assert.deepEqual(blocks, pictures);
  assert.deepEqual(numbers(0xe7), [0, 32000, 36000]);
  assert.deepEqual(numbers(0xb3), numbers(0xe7));
  const segment = all(0x18538067)[0].begin;
  assert.deepEqual(numbers(0xf1), all(0x1f43b675).map(({ position }) => position - segment));
});
