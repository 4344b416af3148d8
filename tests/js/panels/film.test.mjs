// The times of the pictures of a film, and a GIF that other programs read.
import assert from "node:assert/strict";
import { test } from "node:test";

import { stretchOf, timesOf } from "../../../assets/js/panels/film/film.mjs";
import { gif } from "../../../assets/js/panels/film/gif.mjs";

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
