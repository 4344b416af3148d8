// Numbers and words that the server and the browser share: made by `python -m docs.make_shared` from
// the modules that are named here; a test fails where this file is older.

// viz.layout.cards
/** Height of a card's head, above its rows. */
export const HEAD = 38;
/** Height that is free below the last row of a card. */
export const FOOT = 8;
/** Width that is free at the left and the right of a card's rows. */
export const PAD = 10;
/** Height of a line of cells, with the gap below it. */
export const CELL_ROW = 34;
/** Height of the label of a row; the value's has none. */
export const LABEL = 22;
/** Height of a heat strip, with the gap below it. */
export const STRIP = 46;
/** Width of a cell with its gap past which the numbers of a row lie too far apart to be read as one. */
export const WIDEST_COLUMN = 80;
/** How far a badge reaches into an op, with some air: no name stands under one. */
export const BADGE = 21;
/** Height of the bundle of lines from cell to cell that goes around a card, where there is room for it. */
export const BUNDLE = 16;
/** How far that bundle keeps from its card, and from the next one below. */
export const CLEAR = 6;
/** The label of the row in which the seed gradient stands. */
export const SEED_LABEL = "gradient you pass";
/** Distance of the dots for parameters on a folded group, across and down. */
export const DOT = 18;
/** Lines of dots at most; the last one says how many more there are. */
export const DOT_LINES = 2;
/** Width that is free at the left and the right of the dots. */
export const DOTS_PAD = 11;
/** Cells in a line of the strip of a stack at most. */
export const CELLS = 30;
/** Distance of two lines of such cells. */
export const CELL_LINE = 20;

// viz.layout.views
/** A graph that fits at this zoom or a larger one is shown whole: its text is 12 px all the same. */
export const WHOLE = 0.612;

// viz.reading.text
/** The number of elements up to which a tensor is drawn cell by cell and written out in sentences. */
export const SMALL = 16;
/** The text instead of the numbers of a value whose bytes in the file are not those that were saved. */
export const DAMAGED = "numbers missing";
/** The relative distance up to which a number counts as one of five digits: the precision of float32. */
export const EXACT = 1.2e-07;
/** The share of the summands by which a sum of float64 numbers may be off. */
export const NOISE = 1e-12;

// viz.scene.details
/** The number of elements up to which the details of an element have whole values and Jacobians. */
export const DATA = 4096;

// viz.run.run
/** The number of sections from which on a run opens with its overview. */
export const SEVERAL = 8;

// engine.replay.program
/** The gradient of a command that passes none, whatever the program passes there. */
export const NONE_PASSED = "none";
