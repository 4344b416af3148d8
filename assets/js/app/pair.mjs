// The page with both recordings of a program: a selection in one frame is made in the other too. Both frames are our own pages, so each
// answers through its `window.backstep`.

const LOOK = 50; // ms between two looks at a frame that is not there yet
const SMALL = 30; // nodes of a graph that is read in half a window

/** @param {HTMLIFrameElement} frame */
const player = (frame) => /** @type {any} */ (frame.contentWindow)?.backstep;

/** The player of a frame, once it shows a program. */
function whenReady(frame) {
  return new Promise((done) => {
    const look = () => {
      const other = player(frame);
      if (other?.scene()) done(other);
      else setTimeout(look, LOOK);
    };
    look();
  });
}

/** Has one player follow the other in what is looked at; it tells nothing back, because the other is there already. */
function follow(leader, follower) {
  const stops = [
    leader.on("time", (t) => { if (follower.t() !== t) follower.seek(Math.min(t, follower.scene().steps.length)); }),
    leader.on("select", (id) => { if (follower.selection() !== id) follower.select(id); }),
  ];
  return () => stops.forEach((stop) => stop());
}

/** Puts both players in step. */
function join(sides) {
  const stops = [follow(sides[0], sides[1]), follow(sides[1], sides[0])];
  return () => stops.forEach((stop) => stop());
}

async function begin() {
  const sides = await Promise.all([...document.querySelectorAll("iframe")].map(whenReady));
  const verdict = /** @type {HTMLElement} */ (document.querySelector(".pair-verdict"));
  const comparison = verdict.textContent;
  let leave = join(sides);
  sides[1].seek(Math.min(sides[0].t(), sides[1].scene().steps.length));
  for (const side of sides) {
    side.fit(side.scene().nodes.length <= SMALL);
    // An edit is of one side: what was compared are the recordings.
    side.on("scene", () => { verdict.textContent = sides.some((one) => one.scene().revision.base) ? `As recorded: ${comparison}` : comparison; });
  }
  const button = document.getElementById("pair-first");
  button?.addEventListener("click", () => {
    leave(); // each goes to its own step
    (button.dataset.steps ?? "").split(" ").forEach((step, nr) => sides[nr].seek(Number(step)));
    leave = join(sides);
  });
  document.documentElement.dataset.ready = "yes";
}

begin();
