import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { pictureOf, scaleOf } from "../../../assets/js/paint/picture.mjs";
import { layPlane } from "../../../assets/js/geometry/plane.mjs";
import { prepare, stateAt } from "../../../assets/js/scene/state.mjs";
import { element, escapeXml, SvgContext } from "../../../assets/js/paint/svg.mjs";
import { Ruler } from "../../../assets/js/geometry/text.mjs";
import { case1 } from "../fixtures/case1.mjs";
import { kitchen } from "../fixtures/kitchen.mjs";

const RULER = new Ruler({ font: "", measureText: (text) => ({ width: 8 * text.length }) });
const THEME = readFileSync(new URL("../../../assets/css/theme.css", import.meta.url), "utf8");
const NUMBERS = { textLeast: 12, textNote: 13, textBody: 14 };
// The light theme; a size is a number, as theme.mjs reads it.
const TOKENS = { ...Object.fromEntries([...THEME.split("[data-theme")[0].matchAll(/--([\w-]+): ([^;]+);/g)]
  .map(([, name, value]) => [name.replace(/-(\w)/g, (_, c) => c.toUpperCase()), value])), ...NUMBERS };

function picture(scene, t, more = {}) {
  const index = prepare(scene);
  const moment = stateAt(index, t);
  const ops = scene.nodes.filter((node) => node.kind === "op");
  const plane = layPlane(index);
  const frame = { moment, plane, ruler: RULER, tokens: TOKENS, selection: null, wires: plane.wiring.at(moment, ops), pending: new Map(), ...more };
  return pictureOf(frame, { title: "A \"title\" & <more>", description: "Step 1." });
}

/** What is in an XML text, or where it is not well formed. */
function parsed(xml) {
  const open = [];
  const texts = [];
  const rest = xml.replace(/<(\/?)([\w:]+)((?: [\w:-]+="[^"<]*")*)(\/?)>|([^<>]+)/g, (_, closes, name, attributes, empty, text) => {
    if (text) texts.push(text);
    else if (closes) assert.equal(open.pop(), name);
    else if (!empty) open.push(name);
    for (const value of [text, attributes].filter(Boolean)) assert.doesNotMatch(value, /&(?!(?:amp|lt|gt|quot);)|undefined|NaN|Infinity/);
    return "";
  });
  assert.equal(rest, "");
  assert.deepEqual(open, []);
  return texts.map((text) => text.trim()).filter(Boolean);
}

/** The modules of a file and of all that it imports: what a picture is painted by. */
function modulesFrom(address, found = new Map()) {
  if (found.has(address.href)) return found;
  const source = readFileSync(address, "utf8");
  found.set(address.href, source);
  for (const [, other] of source.matchAll(/^import .*"(\..+)";$/gm)) modulesFrom(new URL(other, address), found);
  return found;
}

test("everything of a context that the painters use is offered", () => {
  const context = new SvgContext(RULER);
  const modules = modulesFrom(new URL("../../../assets/js/paint/picture.mjs", import.meta.url));
  assert.ok([...modules.keys()].some((name) => name.endsWith("paint/dots.mjs")) && modules.size > 10);
  for (const [file, source] of modules) for (const [, name] of source.matchAll(/\bcontext\.(\w+)/g)) assert.ok(name in context, `${file} uses context.${name}`);
});

for (const [name, scene] of [["case1", case1({ previous: [0, 1, 0, 0] })], ["kitchen", kitchen()]]) {
  test(`${name} is well formed at every step, and has the name of every node`, () => {
    for (let t = 0; t <= scene.steps.length; t += 0.5) {
      const texts = parsed(picture(scene, t, { selection: scene.nodes[0].id }).text);
      for (const node of scene.nodes) assert.ok(texts.includes(escapeXml(node.label)), `${node.label} at ${t}`);
    }
  });
}

test("a picture is tight around what is drawn, and where one looks does not matter", () => {
  const scene = case1();
  const { text, width, height } = picture(scene, 0);
  const [x0, y0, x1, y1] = layPlane(prepare(scene)).bounds;
  assert.ok(width >= x1 - x0 + 48 && width <= x1 - x0 + 48 + 40, String(width));
  assert.ok(height >= y1 - y0 + 48 && height <= y1 - y0 + 48 + 40, String(height));
  assert.ok(text.startsWith(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="`));
  assert.ok(text.includes("<title>A &quot;title&quot; &amp; &lt;more&gt;</title>"));
  assert.equal(picture(scene, 0, { camera: { x: 9000, y: 9000, zoom: 0.1 } }).text, text);
});

test("text is escaped, and what XML has no place for is replaced", () => {
  assert.equal(escapeXml("a < b && \"c\" > \u2264 \u{1D465}"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; \u2264 \u{1D465}");
  assert.equal(escapeXml("\u0000a\u001b[31m\ud800\uffff\tb"), "\ufffda\ufffd[31m\ufffd\ufffd\tb");
  assert.equal(element("a", { b: 1, c: undefined, "fill-opacity": 1, d: "\"" }), "<a b=\"1\" d=\"&quot;\"/>");
});

test("a shape that is filled and outlined is one element, with the opacity of each", () => {
  const context = new SvgContext(RULER);
  context.roundRect(0, 0, 10, 20, 2);
  Object.assign(context, { fillStyle: "tomato", strokeStyle: "rgba(1, 2, 3, 0.5)", lineWidth: 4, globalAlpha: 0.5 });
  context.fill();
  context.setLineDash([2, 4]);
  context.stroke();
  assert.equal(String(context), "<path d=\"M2 0H8A2 2 0 0 1 10 2V18A2 2 0 0 1 8 20H2A2 2 0 0 1 0 18V2A2 2 0 0 1 2 0Z\" fill=\"tomato\" fill-opacity=\"0.5\" "
    + "stroke=\"rgb(1, 2, 3)\" stroke-opacity=\"0.25\" stroke-width=\"4\" stroke-dasharray=\"2 4\"/>");
  assert.deepEqual(context.bounds, [-2, -2, 12, 22]);
  context.lineTo(30, 30);
  context.stroke();
  assert.equal(context.parts.length, 2);
  context.clearRect();
  assert.equal(String(context), "");
});

test("corners have the room that is there, and a circle is two arcs", () => {
  const context = new SvgContext(RULER);
  context.roundRect(0, 0, 10, 4, [8, 0, 0, 8]);
  assert.equal(context.path.join(""), "M2 0H10A0 0 0 0 1 10 0V4A0 0 0 0 1 10 4H2A2 2 0 0 1 0 2V2A2 2 0 0 1 2 0Z");
  context.beginPath();
  context.arc(5, 5, 3, 0, 2 * Math.PI);
  assert.equal(context.path.join(""), "M8 5A3 3 0 0 1 2 5A3 3 0 0 1 8 5");
});

test("text stands where it is anchored, in its own width", () => {
  const context = new SvgContext(RULER);
  Object.assign(context, { font: "600 14px Inter, \"Segoe UI\"", fillStyle: "tomato", textAlign: "center" });
  context.fillText("wide", 100, 10);
  assert.equal(String(context), "<text x=\"100\" y=\"10\" font-family=\"Inter, &quot;Segoe UI&quot;\" font-size=\"14\" font-weight=\"600\" text-anchor=\"middle\" "
    + "fill=\"tomato\">wide</text>");
  const half = RULER.widthOf("", "wide") / 2;
  assert.deepEqual(context.bounds.slice(0, 3), [100 - half, -4, 100 + half]);
});

test("a PNG has two px per unit, or as many as a browser holds", () => {
  assert.equal(scaleOf({ width: 1000, height: 500 }), 2);
  assert.equal(scaleOf({ width: 32768, height: 100 }), 0.5);
  const side = Math.floor(9000 * scaleOf({ width: 9000, height: 9000 }));
  assert.ok(side > 8000 && side ** 2 <= 2 ** 26);
});
