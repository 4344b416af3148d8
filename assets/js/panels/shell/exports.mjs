// What the Export menu saves: the graph as a picture, the recording, the scene.
import { pngOf } from "../../paint/picture.mjs";
import { h, setProps, toast } from "../../page/dom.mjs";
import * as session from "../../page/session.mjs";

const PICTURES = { "export-svg": "Picture (SVG)", "export-png": "Picture (PNG)" };

/** The acts of the menu, by name; `player` paints. */
export function acts(player) {
  return {
    "export-svg": () => save(new Blob([player.picture().text], { type: "image/svg+xml" }), pictureName(player, "svg")),
    "export-png": () => savePng(player), "export-trace": saveTrace, "export-scene": saveScene,
  };
}

/** Pictures are offered where there is a graph; elsewhere the entries say why they are not. */
export function offer(scene) {
  const drawn = scene.nodes.length > 0;
  for (const [id, name] of Object.entries(PICTURES)) setProps(id, { "aria-disabled": String(!drawn), children: drawn ? name : `${name}: there is no graph` });
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const programName = () => session.state().program.replace(/[^\w.-]+/g, "-");
const fileName = (ending) => `${programName()}-${session.state().index + 1}.${ending}`;

/** `weights-step-3.svg`; of an edited revision `weights-revision-2-step-3.svg`. */
function pictureName(player, ending) {
  const { index } = session.state();
  return `${programName()}${index ? `-revision-${index + 1}` : ""}-step-${Math.ceil(player.t())}.${ending}`;
}

async function savePng(player) {
  const name = pictureName(player, "png");
  try {
    const { blob, scale, isWhole } = await pngOf(player.picture());
    save(blob, name);
    if (!isWhole) toast(`The PNG has ${scale.toPrecision(2)} px per unit instead of 2, because browsers limit the size of a picture. The SVG has no such limit.`);
  } catch (error) {
    toast(`The picture could not be saved: ${error.message}`);
  }
}

function saveScene() {
  save(new Blob([JSON.stringify(session.state().scene, null, 1)], { type: "application/json" }), fileName("scene.json"));
}

async function saveTrace() {
  const { program, edits } = session.state();
  try {
    const answer = await fetch("/export/trace", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ program, edits }) });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).problem?.text || `the server answered ${answer.status}`);
    save(await answer.blob(), fileName("backstep"));
  } catch (error) {
    toast(`The trace could not be saved: ${error.message}`);
  }
}
