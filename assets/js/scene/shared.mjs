// Numbers and words that the server and the browser share: made by `python -m docs.make.shared` from
// the modules that are named here; a test fails if this file is out of date.

// viz.layout.cards
/** Height of a card's head, above its rows. */
export const HEAD = 38;
/** Free height below the last row of a card. */
export const FOOT = 8;
/** Free width at the left and at the right of a card's rows. */
export const PAD = 10;
/** Height of a line of cells, with the gap below it. */
export const CELL_ROW = 34;
/** Height of the label of a row; the value's has none. */
export const LABEL = 22;
/** Height of a heat strip, with the gap below it. */
export const STRIP = 46;
/** Largest width of a cell with its gap: further apart, the numbers of a row are not read as one row. */
export const WIDEST_COLUMN = 80;
/** How far a badge reaches into an op, with some margin: names end before it. */
export const BADGE = 21;
/** Height of the bundle of wires from cell to cell that runs around a card, if there is room for it. */
export const BUNDLE = 16;
/** Distance of that bundle from its card, and from the next card below. */
export const CLEAR = 6;
/** The label of the row with the seed gradient. */
export const SEED_LABEL = "gradient you pass";
/** Distance between the dots for parameters on a folded group, horizontally and vertically. */
export const DOT = 18;
/** The most lines of dots; the last one gives the number of the others. */
export const DOT_LINES = 2;
/** Free width at the left and at the right of the dots. */
export const DOTS_PAD = 11;
/** The most cells in a line of a stack's strip. */
export const CELLS = 30;
/** Distance between two lines of such cells. */
export const CELL_LINE = 20;

// viz.layout.views
/** A graph that fits at this zoom or a larger one is shown whole: its text still has 12 px. */
export const WHOLE = 0.612;

// viz.reading.text
/** The number of elements up to which a tensor is drawn cell by cell and written out in sentences. */
export const SMALL = 16;
/** The text instead of the numbers of a value whose bytes in the file are not those that were saved. */
export const DAMAGED = "numbers missing";
/** The number of significant digits that a number is written with; one more where that is all of it. */
export const DIGITS = 4;
/** From the first to below the second, a number is written without a power of ten. */
export const PLAIN = [0.001, 1000000.0];
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
