import assert from "node:assert/strict";
import { test } from "node:test";
import { wheelPixels } from "../../../assets/js/page/dom.mjs";

test("a notch of a wheel that counts lines is about one that counts px", () => {
  assert.deepEqual(wheelPixels({ deltaX: 0, deltaY: 100, deltaMode: 0 }), { x: 0, y: 100 });
  const { x, y } = wheelPixels({ deltaX: 0, deltaY: 3, deltaMode: 1 });
  assert.ok(x === 0 && y > 90 && y < 130);
});
