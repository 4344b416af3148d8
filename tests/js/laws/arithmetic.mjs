// What no step's numbers may do: `node arithmetic.mjs FOLDER` reads scenes and prints what breaks a law, as JSON.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "../../../assets/js/panels/inspector/arithmetic.mjs";

const read = (text) => Number(text.replace("inf", "Infinity").replaceAll("\u2212", "-").replace(/[()]/g, ""));

/** What a calculator gives for a row as it is written. */
const reckoned = (row) => row.reduce((sum, cell) => sum + cell.replace(/^\+ /, "").split("\u00b7").reduce((product, factor) => product * read(factor), 1), 0);

/** Whether the sign before a result is the right one: `=` for what has the same four digits, as far as doubles know them. */
function isTrue(row, total) {
  const [left, right] = [reckoned(row), read(total.slice(2))];
  if (!Number.isFinite(left) || !Number.isFinite(right)) return total.startsWith("=") === Object.is(left, right);
  const off = Math.abs(left - right) / Math.max(Math.abs(right), 1e-12);
  return total.startsWith("=") ? off <= 5.01e-4 : off > 1e-9;
}

const broken = {};
let sums = 0;
for (const file of readdirSync(process.argv[2]).sort()) {
  const scene = JSON.parse(readFileSync(join(process.argv[2], file), "utf8"));
  const found = (broken[file.replace(".json", "")] = { sums: [], locals: [] });
  scene.steps.forEach((step, k) => {
    if (step.kind !== "vjp") return;
    const lines = linesOf(scene, k);
    const totals = lines.filter((line) => line.total);
    sums += totals.length;
    found.sums.push(...totals.filter((line) => !isTrue(line.rows[0], line.total)).map((line) => `${k}: ${line.rows[0].join(" ")} ${line.total}`));
    const told = lines.map((line, i) => (line.tone === "cotangent" ? lines[i - 1]?.tone === "local" || lines[i - 1]?.label === "in forward" : null)).filter((one) => one !== null);
    if (new Set(told).size > 1) found.locals.push(`${k}: ${lines.map((line) => line.label).join(", ")}`);
  });
}
console.log(JSON.stringify({ sums, broken }));
