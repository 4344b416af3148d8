// What a lesson's source shows while a question is open.
import assert from "node:assert/strict";
import { test } from "node:test";

import { answersAt } from "../../../assets/js/panels/program/question.mjs";

const TEXTS = ["x = 1", "# ## Title", "# Text.", "# > A note.", "# ? What then?", "# - 1", "# + 2", "# = Why.", "y = 2", "# - not of a lesson", "# ## End", "z = 3"];
const ask = { text: "What then?", choices: [] };
const hidden = (chapters, t) => [...answersAt(TEXTS, chapters, t)];

test("choices, reasons and notes of a question are not shown in the source until it is answered", () => {
  const chapters = [{ step: 2, ask }, { step: 3 }];
  assert.deepEqual(hidden(chapters, 0), [4, 6, 7, 8]);
  assert.deepEqual(hidden(chapters, 1.5), [4, 6, 7, 8]);
  assert.deepEqual(hidden(chapters, 2), []);
});

test("a chapter without a question, and a file without these chapters, are shown whole", () => {
  assert.deepEqual(hidden([{ step: 2 }, { step: 3 }], 0), []);
  assert.deepEqual(hidden([{ step: 2, ask }], 0), []);
});
