// The story as a function of the time. Pure: no page here.
// A chapter is: its text first, then Space, then one short move that ends at its `step`, then rest.

/** @import { Chapter } from "../../scene/scene.d.ts" */

/**
 * The time at which a chapter's move has ended; a chapter without one rests where the one before it ended.
 * @type {(chapters: Chapter[], i: number) => number}
 */
export function endOf(chapters, i) {
  if (i < 0) return 0;
  return chapters[i].step ?? endOf(chapters, i - 1);
}

/** The time at which a chapter's text is read, before its move. */
export const restOf = (chapters, i) => endOf(chapters, i - 1);

/**
 * The chapter that a time belongs to: the first whose move has not ended before it; behind all of them the last that happens.
 * @type {(chapters: Chapter[], t: number) => number}
 */
export function chapterAt(chapters, t) {
  const number = chapters.findIndex((_, i) => endOf(chapters, i) >= t - 1e-9);
  return number < 0 ? Math.max(chapters.findLastIndex(({ gone }) => !gone), 0) : number;
}

/** What Space does: {play: time}, {turn: chapter}, or null where the story has no more to say and Space is the player's. */
export function nextMove(chapters, chapter, t) {
  if (!chapters.length) return null;
  const end = endOf(chapters, chapter);
  if (t < end - 1e-9) return { play: end };
  if (t > end + 1e-9 || chapters.slice(0, chapter + 1).some(({ fix }) => fix)) return null; // nothing follows the error
  return chapter + 1 < chapters.length ? { turn: chapter + 1 } : null;
}

/** Whether something moves in a chapter: one without a move tells of what stands there already. */
export const isMoving = (chapters, i) => endOf(chapters, i) > restOf(chapters, i);

/** Where a time is in what a chapter tells of: before its move the text announces it; before any move nothing has happened.
 * What no longer happens since an edit is "gone". */
export function stageOf(chapters, i, t) {
  if (chapters[i].gone) return "gone";
  const [rest, end] = [restOf(chapters, i), endOf(chapters, i)];
  if (end === 0) return "ahead";
  return t >= end - 1e-9 ? "over" : t > rest + 1e-9 ? "running" : "ahead";
}
