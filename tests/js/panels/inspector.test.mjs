// What the inspector says of a step, where the step shows it in a node that can be opened.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Inspector } from "../../../assets/js/panels/inspector/inspector.mjs";

const element = () => ({ textContent: "", setAttribute() {}, addEventListener() {}, append(...parts) { this.textContent = parts.map((part) => part.textContent ?? part).join(""); } });

function bodyOf(step, node) {
  Object.assign(globalThis, { document: { createElement: element } });
  const inspector = Object.create(Inspector.prototype, { scene: { value: { steps: [step], edges: [], nodes: [node], error: { step: 0 } } } });
  return inspector.stepBody(step, node, 0).filter(Boolean).map((part) => part.textContent).join(" ");
}

test("the box in which a forward op failed has its parts behind it, and no gradient that came back", () => {
  const step = { kind: "error", name: "mm", at: "g0", say: "mm raises a RuntimeError." };
  assert.equal(bodyOf(step, { id: "g0", kind: "group", label: "Linear" }), "Open Linear for its parts and gradients.");
  assert.equal(bodyOf(step, { id: "n0", kind: "op", label: "mm" }), "Open mm for plots, the gradient check and all its steps.");
});
