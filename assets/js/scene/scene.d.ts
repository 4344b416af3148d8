// What the server sends, as types: made by `python -m docs.make.scene_format` from viz/schema; a test
// fails where this file is older.  For checks only (tests/js/tsconfig.json): the browser never asks for it.

/** The document: one revision of a trace, from its first step to its last. */
export interface Scene {
  /** The number of this format. */
  format: 1;
  /** The program with a set of edits. */
  revision: Revision;
  /** The program whose revision is shown. */
  program: Program;
  /** Null if the document is about all of the run. */
  section?: Section | null;
  /** In the order in which they ran. */
  steps: Step[];
  /** Steps that belong together; the phases are contiguous and cover all steps. */
  phases: Phase[];
  /** The levels of time; an outer span before those in it. */
  spans: Span[];
  /** In the order of the files and their lines. */
  lines: Line[];
  /** In the order in which they were printed. */
  prints: Print[];
  /** A sign on the timeline at a step. */
  marks: Mark[];
  /** The formulas of the ops in folded groups, each once. */
  formulas: Formula[][];
  /** A tensor, an op, a stub or a folded group. */
  nodes: Node[];
  /** A connection of two nodes; source to target is the direction of forward. */
  edges: Edge[];
  /** A call of a module or function, an iteration of a loop, drawn as a box, or folded as a node too. */
  groups: Group[];
  /** The values that the ids elsewhere in the scene stand for. */
  values: Value[];
  /** The revision before, for ghosts. */
  previous: PreviousRevision | null;
  /** A call of the program to autograd, or one that an edit adds. */
  commands: Command[];
  /** Something that the edits of a revision change. */
  changes: Change[];
  /** Where a command may stand. */
  places: Place[];
  /** The error that ended the program, explained. */
  error: Error | null;
  /** In the order of their steps. */
  findings: Finding[];
  /** A warning that the program received. */
  warnings: ProgramWarning[];
  /**
   * The powers of ten around all norms of gradients, the ends of the scale of colours; null if nothing is folded at
   * first, or no gradient has a norm.
   */
  norms: [number, number] | null;
  /** The modules whose calls hold all of the graph, and are not drawn: `model: GPT`; null if there is none. */
  model: string | null;
  /** The box around everything. */
  bounds: Box;
  /** The name of the layout used. */
  layout: string;
  /** Why it is not the requested one, in words to show. */
  layout_note: string | null;
  /** The folded groups. */
  folded: ElementId[];
  /** Null if nothing is folded. */
  hidden: HiddenElements | null;
}

/** The program with a set of edits. */
export interface Revision {
  /** A hash of the recording and the edits. */
  id: string;
  /** Its number in the session; the browser counts. */
  number: number;
  /** `as recorded`, `gradient edited` … */
  label: string;
  /** The revision as recorded; null for that itself. */
  base: string | null;
  /** From this step on the program itself might take another path. */
  doubt: Doubt | null;
  /** Set if the program itself has run with the edits: its prints are those of this run. */
  ran?: boolean;
  /**
   * For an edited program that ran on another library: the library that computed the numbers, and how well it agrees
   * with the recording; else empty.
   */
  recomputed: string;
}

/** From this step on the program itself might take another path. */
export interface Doubt {
  /** The first step that is in doubt. */
  step: number;
  /** Why. */
  text: string;
}

/** The program whose revision is shown. */
export interface Program {
  /** Its name in addresses. */
  id: string;
  /** Its name for people. */
  title: string;
  /** The question that it answers; for your own program, its name. */
  question: string;
  /** The path to it through the gallery. */
  crumbs: string[];
  /** Whether it is one of the founding cases. */
  legacy: boolean;
  /** How a script ended, and why it shows less than expected; else empty. */
  note?: string;
  /** For a long recording: the part that is shown, and how to see more; else empty. */
  left_out?: string;
  /** The message of a mistake. */
  says?: string | null;
  /** For a mistake without a message: the problem. */
  silence?: string | null;
  /** Null for a program without such a partner. */
  other?: OtherProgram | null;
  /** Whether the same program can be run on PyTorch from here. */
  on_torch?: boolean;
  /** The titles of the recordings that were opened together with this one, by their names in addresses. */
  beside?: Record<string, string>;
  /** A part of the story of a program, or the introduction of a program without a story. */
  chapters: Chapter[];
  /**
   * The time shown first; null for the start. For your own program: its error, or the origin of the first nan; if it
   * has neither and is large, the end of its last backward call.
   */
  opens?: number | null;
  /** A file of the program. */
  files: File[];
}

/** The corrected program of a mistake; for that program, the mistake. */
export interface OtherProgram {
  /** Its name in addresses. */
  id: string;
  /** Whether this program is the corrected one. */
  is_fixed: boolean;
  /** The lines that only this program has. */
  added: number[];
  /** Lines that only the other program has. */
  gone: MissingLines[];
}

/** Lines that only the other program has. */
export interface MissingLines {
  /** The line of this program before which they would stand. */
  before: number;
  /** Their text. */
  lines: string[];
}

/** A part of the story of a program, or the introduction of a program without a story. */
export interface Chapter {
  /** Its subject, in a program without a story. */
  kind?: FindingKind | "error";
  /** Its heading. */
  title: string;
  /** Its text, in paragraphs; `code`, **bold** and *emphasis* are markup. */
  text: string;
  /** The first and the last line of the script that it is about. */
  lines: [number, number] | null;
  /** The time to which it leads. */
  step: number | null;
  /** The elements that it is about, which are selected when it is shown. */
  select: ElementId[];
  /** Whether it is the one about `error`, which offers `error.fix.edits`. */
  fix?: boolean;
  /** Whether it describes something in the inspector, which then opens. */
  inspect?: boolean;
  /** The folded groups around the elements it describes: its move ends by opening them. */
  unfold?: ElementId[];
  /** Notes that only the presenter of a lecture sees. */
  notes?: string;
  /** The question that it asks before its move. */
  ask?: Question;
  /** The edits that it proposes. */
  tries?: Try[];
  /** Why, after an edit, the events it describes no longer happen. Its step is then null. */
  gone?: string;
  /** If an edit may have changed its subject: the sentence of its step now, empty for no step. */
  now?: string;
}

/** A file of the program. */
export interface File {
  /** Its path, as the recording has it. */
  name: string;
  /** All of it. */
  text: string;
}

/** The part of a long run that a document is about: an iteration of its training loop, or the code between two. */
export interface Section {
  /** Its number, from 0. */
  at: number;
  /** How many the run has. */
  count: number;
  /** How many of them are iterations. */
  iterations: number;
  /** An iteration, or the part before the first, between two, or after the last. */
  kind: "before" | "iteration" | "between" | "after";
  /** `step = 57`. */
  label: string;
  /** The iterations of outer loops, outermost first: `epoch = 0`. */
  around: string[];
  /** The label of the one before; null for the first. */
  before: string | null;
  /** The label of the one after; null for the last. */
  after: string | null;
}

/** One moment: a forward op, a VJP, an accumulation, a write, an error. */
export interface Step {
  /** The expression; of a VJP that of the *forward* op. */
  code: Code | null;
  /** For backward steps and errors: the call that runs. */
  from: Code | null;
  /** For a rule that runs in a folded group. */
  within?: GroupGradients;
  /** The gradients that a rule sends to each receiver, if a folded group hides one of them or the rule. */
  sends?: SentGradient[];
  /** For `x.data = y`, after which x has new values and its old gradient. */
  writes?: "value";
  /** What happens in a step. */
  kind: StepKind;
  /** The index of its phase in `phases`. */
  phase: number;
  /** The node that is active: of a VJP the op, of an accumulation or a write the tensor. */
  at: ElementId | null;
  /** `mul`, `MulBackward0`, `AccumulateGrad`, `zero_`. */
  name: string;
  /** One sentence in words. */
  say: string;
  /** A value or gradient that travels along an edge in a step. */
  flows: Flow[];
  /** The order of the derivative that its call computes: 2 if it differentiates a gradient; 0 outside calls. */
  order: number;
}

/** The gradients that a rule in a folded group receives and sends. */
export interface GroupGradients {
  /** The gradients that it receives, in few characters. */
  gets: string;
  /** The gradients that it sends. */
  gives: string;
  /** The first gradient that it receives. */
  upstream: ValueId | null;
  /** The place of its op's formulas in `formulas` of the scene. */
  formula: number | null;
}

/** The gradient that a rule sends to one receiver. */
export interface SentGradient {
  /** The folded group of the receiver, if it differs from the op's. */
  in?: ElementId;
  /** The receiver, as the sentence names it. */
  name: string;
  /** The gradient; null if none is sent. */
  value: ValueId | null;
  /** The drawn edge from the receiver to the op. */
  edge?: ElementId;
}

/** What happens in a step. */
export type StepKind =
  | "forward" // an op runs
  | "vjp" // the rule of an op runs: upstream gradient in, gradients of the inputs out
  | "accumulate" // a gradient is added into `.grad`
  | "write" // the program writes to a leaf or a gradient
  | "error" // the program stops
;

/** A value or gradient that travels along an edge in a step. */
export interface Flow {
  /** The edge along which it travels. */
  edge: ElementId;
  /** From target to source: a gradient. */
  back: boolean;
  /** Null for a sum that is recorded nowhere. */
  value: ValueId | null;
  /** The numbers of a gradient: `2 · 1 = 2` for one element, else `[2 0]`. */
  text: string | null;
  /** `2 · 1 = 2` if a gradient of several elements takes a single path: true for its cells, written on its wire. */
  path?: string;
  /** The common sign of a gradient's elements; 0 if their signs differ or they are zero; null if one is nan. */
  sign: -1 | 0 | 1 | null;
  /** The size at which a gradient is drawn, 0 to 1: by the logarithm of its norm. */
  size: number;
  /** As for an edge, if the step used other local derivatives than forward because a value was changed unseen. */
  wiring?: Wire[];
}

/** Steps that belong together; the phases are contiguous and cover all steps. */
export interface Phase {
  /** The kind of the steps of a phase. */
  kind: PhaseKind;
  /** As written in the program, or changed to. */
  label: string;
  /** Its first step. */
  start: number;
  /** The step after the last. */
  end: number;
  /** The number of the backward call. */
  call: number | null;
  /** The call; null for forward. */
  code: Code | null;
  /** Whether an error ended it. */
  failed: boolean;
}

/** The kind of the steps of a phase. */
export type PhaseKind = "forward" | "backward" | "write";

/**
 * Steps that are one unit at a level: a phase, the call of a module or function in it, or the backward pass through
 * that call. Each follows the one around it.
 */
export interface Span {
  /** Its first step. */
  start: number;
  /** The step after the last. */
  end: number;
  /** How many spans are around it. Those of row 0 are contiguous and cover all steps. */
  row: number;
  /** The place of the span around it in `spans`. */
  within: number | null;
  /** The kind of the steps of a phase. */
  kind: PhaseKind;
  /** The name of the group without its class, or the call as written in the program. */
  label: string;
  /** One sentence about all its steps. */
  say: string;
  /** The group that it is a call of. */
  group: ElementId | null;
  /** The norm of the largest gradient that it receives; null outside backward, and if that is not recorded. */
  norm: Num | null;
  /** The call; null for the forward pass. */
  code: Code | null;
}

/** A line of the program at which something was recorded. */
export interface Line {
  /** The index of its file in `program.files`. */
  file: number;
  /** Its number, from 1. */
  line: number;
  /** How often it ran, according to the recording; null if it only made a leaf. */
  runs: number | null;
  /**
   * The norm of the largest gradient that an op or a leaf of this line, or of a function that it calls, receives; null
   * if none does.
   */
  norm: Num | null;
}

/** Text that the program printed when it was recorded. */
export interface Print {
  /** From this time on it is there. */
  step: number;
  /** The call that printed it. */
  code: Code | null;
  /** Where it went. */
  stream: "stdout" | "stderr";
  /** As a terminal shows it. */
  text: string;
  /** How many lines after it are left out. */
  more: number;
}

/** A sign on the timeline at a step. */
export interface Mark {
  /** Where on the timeline it stands. */
  step: number;
  /** The meaning of a mark. */
  kind: MarkKind;
  /** Its text, in few words. */
  label: string;
}

/** The meaning of a mark. */
export type MarkKind =
  | "zero" // a gradient is zeroed
  | "none" // `.grad` is set to None
  | "set" // `.grad` or `.data` is set
  | "error" // the program stops
  | "edit" // a command that an edit changed
  | "warning" // a finding, or a warning that the program was given
;

/** A tensor, an op, a stub or a folded group. */
export interface Node {
  /**
   * Stable across steps, edits and folds: `t3` tensor 3, `t3.1` its version 1, `n5` the sixth op that the program ran
   * (commands are not counted), `n2.0` the first that backward call 2 recorded, `t3@n5` the stub of `t3` at `n5`, `g…`
   * a group, `e…` an edge.
   */
  id: ElementId;
  /** What a node stands for. */
  kind: NodeKind;
  /** The part of an element in the graph. */
  role: Role;
  /** The middle, in layout units. */
  x: number;
  /** The middle, downwards, in layout units. */
  y: number;
  /** Width in layout units. */
  w: number;
  /** Height in layout units. */
  h: number;
  /** The first line: `x`, `× 2`, `sum`. */
  label: string;
  /** The second line: `1×4 · leaf`, `MulBackward0`; of a folded group `2 ops · 2 → 2`. */
  sub: string;
  /** The tooltip. */
  title: string;
  /** The innermost group around it. */
  group: ElementId | null;
  /** The node that a stub stands for. */
  twin: ElementId | null;
  /** The shape of a tensor or a stub. */
  shape: number[] | null;
  /** The dtype of a tensor or a stub. */
  dtype: string | null;
  /** The rows of a tensor's card; else empty. */
  rows: Row[];
  /** The chips inside an op's pill; else empty. */
  saved: Chip[];
  /** The gradient per differentiable input of an op's call; else empty. */
  formula: Formula[];
  /** The parameters in a folded group, in the order of the program. */
  dots?: Dot[];
  /** The equal groups that a stack stands for, in the order of the program. */
  cells?: Cell[];
  /**
   * The kind of a folded group beside a model: the setting of its parameters, its data, an optimiser's step, or code
   * that receives no gradient.
   */
  quiet?: "start" | "data" | "update" | "aside";
  /** The states of a node over time. */
  tracks: NodeTracks;
  /** The line that made a tensor; null if no line of the recording did, as for a parameter. */
  code: Code | null;
  /**
   * The effect of `retain_grad()` on a tensor. `unheld`: the program no longer holds the tensor when a call reaches it.
   * `unreached`: no call reaches it.
   */
  retains?: "kept" | "unheld" | "unreached";
}

/** What a node stands for. */
export type NodeKind =
  | "tensor"
  | "op"
  | "stub" // a further use of a tensor, drawn again where it is used
  | "group" // a folded group
;

/** The part of an element in the graph. */
export type Role =
  | "leaf" // a tensor that the program made, and that requires a gradient
  | "root" // a tensor from which a backward call starts
  | "constant" // a tensor or an op that needs no gradient
  | "inner" // anything else
;

/** A row of a tensor's card; the rows stand under the title, top to bottom. */
export interface Row {
  /** The content of a row of a card. */
  key: RowKey;
  /** The text over the row; the value's is not shown. */
  label: string;
  /**
   * Lines of cells, and `cols` cells in each: those of the matrix, but a row or a column of more than eight elements
   * stands in two lines. Both are 0 for a heat strip, of a tensor with more than 16 elements.
   */
  rows: number;
  /** Cells in a line; 0 for a heat strip. */
  cols: number;
  /** The value that it shows; null if there is none. */
  track: Track<ValueId | null>;
  /** The backward call that starts with a seed. */
  call?: Track<number | null>;
  /**
   * For a seed, unless it is always null: the origin of the gradient that backward starts with, if the program did not
   * pass it.
   */
  derived?: Track<SeedOrigin | null>;
  /**
   * For the gradient of an older version: from this time on `.grad` stands on a newer version's card, and this one
   * shows a past gradient.
   */
  until?: number;
}

/** The origin of the gradient that backward starts with. */
export interface SeedOrigin {
  /** The origin of a gradient that differs from the one that was passed. */
  kind: DerivedKind;
  /** `cast from float64`, `stretched from shape 2`, `implicit 1`, `none passed`, `by gradcheck`. */
  text: string;
  /** The names of its row, the longest first. */
  labels: string[];
}

/** The origin of a gradient that differs from the one that was passed. */
export type DerivedKind =
  | "converted" // the gradient that was passed, after a cast, a broadcast or a sum
  | "implicit" // nothing was passed, so it is 1
  | "missing" // nothing was passed, and no 1 would fit
  | "caller" // a function of the library passes it
;

/** A parameter in a folded group, drawn as a dot. */
export interface Dot {
  /** The id of its card. */
  id: ElementId;
  /** Its name in the group: `attn.qkv.weight`. */
  name: string;
  /** The sizes of its dimensions. */
  shape: number[];
  /** The norm of its `.grad`; null if there is none. */
  norm: Track<Num | null>;
  /** Present if several modules use it. */
  shared?: true;
}

/** A member of a stack, drawn as a cell of its strip. */
export interface Cell {
  /** The id of its group, which can be unfolded. */
  id: ElementId;
  /** Its name: `blocks.3`, `t = 4`. */
  label: string;
  /** The norm of the gradients of all its results together; null if none has arrived. */
  norm: Track<Num | null>;
}

/** The states of a node over time. */
export interface NodeTracks {
  /** What a node is doing. */
  state: Track<State>;
  /** Whether it takes no part in the running backward call. */
  faint: Track<boolean>;
  /** The state of an op's saved tensors. */
  saved?: Track<Saved>;
  /** The gradient that an op or a folded group receives in backward. */
  upstream?: Track<ValueId | null>;
  /** The norm of the gradients of all results of a folded group together. */
  norm?: Track<Num | null>;
}

/** What a node is doing. */
export type State =
  | "future" // not yet computed in forward
  | "idle" // computed; no backward call concerns it now
  | "waiting" // takes part in the running backward call; some contributions are still missing
  | "ready" // all contributions are there
  | "done" // its VJP ran in this call; a leaf has received its gradient
  | "error" // the program stopped here
;

/** The state of the values that an op saved. */
export type Saved =
  | "none" // the op has not run yet, or saves nothing
  | "saved" // saved in forward
  | "kept" // kept by `retain_graph` when the rule ran
  | "freed" // freed when the rule ran
;

/** A connection of two nodes; source to target is the direction of forward. */
export interface Edge {
  /** `e`, its ends and a number. */
  id: ElementId;
  /** The node from which forward goes. */
  source: ElementId;
  /** The node to which forward goes. */
  target: ElementId;
  /** The name of the target's input; null after an op, and if several edges are drawn as one. */
  input: string | null;
  /** The name of its tensor, if that is not the tensor of its source but `w.grad`, or a result of a folded group. */
  hands: string | null;
  /**
   * The route of forward, from the source's border to the target's, drawn as a smooth curve through them. (A route to
   * another line of the picture runs under its own line and down to the other, with rounded corners.)
   */
  points: Point[];
  /** The route of the gradient, from target to source. */
  back: Point[];
  /** If the target is a root that passes on gradients of other calls: their route. */
  through?: Point[];
  /** Whether a gradient can travel here. */
  grad: boolean;
  /**
   * Whether a value travels here. If only gradients do (from a tensor after an unrecorded write to the tensor before
   * it), `points` are those of `back`, and nothing is drawn at rest.
   */
  value: boolean;
  /** The states of an edge over time. */
  tracks: EdgeTracks;
  /** For edges into an op of small tensors: from cell to cell; the target cell is one of the op's output. */
  wiring: Wire[] | null;
}

/** The states of an edge over time. */
export interface EdgeTracks {
  /** What an edge is doing. */
  state: Track<EdgeState>;
  /** Whether it takes no part in the running backward call. */
  faint: Track<boolean>;
  /** The gradient that went along it in the latest backward call; if several edges are drawn as one, the first. */
  cotangent: Track<ValueId | null>;
  /** If several edges are drawn as one: the norm of their gradients. */
  norm?: Track<Num | null>;
}

/** What an edge is doing. */
export type EdgeState =
  | "future" // its value is not yet computed
  | "idle" // computed; nothing has gone back along it in this call
  | "done" // the gradient has gone along it in this call
;

/** A call of a module or function, an iteration of a loop, drawn as a box, or folded as a node too. */
export interface Group {
  /** Also the id of its node, if it is folded. */
  id: ElementId;
  /** The name of the module, function or iteration. */
  label: string;
  /** The elements directly in it; for a folded group, all elements that it stands for. */
  members: ElementId[];
  /** The group around it. */
  within: ElementId | null;
  /** Whether a node stands for it. */
  folded: boolean;
  /** In layout units. */
  box: Box;
  /** Its boxes line by line, if it continues in other lines of the picture. */
  parts?: Box[];
  /** Present for an iteration of a loop. */
  round?: true;
  /** Present for a series of equal groups. */
  stack?: true;
}

/** The revision before, for ghosts. */
export interface PreviousRevision {
  /** The tracks of the rows that differ, by `<node id>|<key of the row>`. */
  values: Record<string, Track<ValueId | null>>;
  /** If the previous section is shown beside this one: the norms of folded groups. */
  norms?: Record<ElementId, Track<Num | null>>;
  /** Its name. */
  label?: string;
}

/** A call of the program to autograd, or one that an edit adds. */
export interface Command {
  /** Its name in edits. */
  id: string;
  /** Calls of `grad` are `backward` too. */
  kind: "backward" | "zero" | "set";
  /** As written in the program, or as an edit makes it. */
  label: string;
  /** Null for one that an edit added. */
  code: Code | null;
  /** The event that it follows, as in edits. */
  after: number | null;
  /** Its first step; `end` is the step after its last. */
  start: number;
  /** The step after its last. */
  end: number;
  /** Where a backward call starts, of several roots the first; the leaf whose gradient is zeroed or set. */
  root: ElementId | null;
  /** Where a backward call starts. */
  roots: ElementId[];
  /** The shape of the first root's seed gradient. */
  shape: number[] | null;
  /** The first root's seed gradient. */
  gradient: ValueId | null;
  /** Whether none was passed. */
  implicit: boolean;
  /** As passed to the call. */
  retain_graph: boolean;
  /** As passed to the call. */
  create_graph: boolean;
  /** The tensors passed as `inputs=`; null if none was passed. */
  inputs: ElementId[] | null;
  /** How an edit changed it; the label is then that of the call as it ran. Null: as recorded. */
  changed: ChangeKind | null;
  /** The message of the error at which it stopped. */
  error: string | null;
}

/** How an edit changes a command; `moved`: it comes from elsewhere. */
export type ChangeKind = "edited" | "removed" | "added" | "moved";

/** Something that the edits of a revision change. */
export interface Change {
  /** How an edit changes a command; `moved`: it comes from elsewhere. */
  kind: ChangeKind;
  /** The line that it is about; null for the start of the program. */
  code: Code | null;
  /** The change, as Python would write it. */
  text: string;
  /** The command that it is about, by its id. */
  command: string | null;
  /** The number of the tensor whose values it gives. */
  leaf: number | null;
}

/** A position where a command may stand, after some lines of the program. */
export interface Place {
  /** The event that a command at this position follows; -1 for the start. */
  after: number;
  /** The line before it. */
  code: Code | null;
  /** The tensors that are made there. */
  makes: number[];
}

/** The error that ended the program, explained. */
export interface Error {
  /** The step at which it was raised. */
  step: number;
  /** Where it is shown. */
  node: ElementId | null;
  /** The name of the exception's class. */
  type: string;
  /** The message, in PyTorch's words. */
  message: string;
  /** The note that Backstep added to the exception. */
  note: string;
  /** Its cause, with this run's names and lines. */
  why: string;
  /** The smallest remedy of an error. */
  fix: Fix;
  /** The traceback that Python prints. */
  traceback: string;
}

/** The smallest remedy of an error. */
export interface Fix {
  /** The code to write instead. */
  text: string;
  /** Null where edits cannot make it. */
  edits: Edits | null;
}

/** A problem that raised no error, from the end of `step` on. */
export interface Finding {
  /** The kind of a problem that raised no error. */
  kind: FindingKind;
  /** From the end of this step on it is known. */
  step: number;
  /** The element at which it is shown; null if it has no position in the graph. */
  at: ElementId | null;
  /** The problem, in few words. */
  label: string;
  /** The cause, with the numbers of this run. */
  why: string;
  /** A fix; empty if none is known. */
  fix: string;
}

/** A warning that the program received. */
export interface ProgramWarning {
  /** The step before which it was given. */
  step: number;
  /** Its text. */
  message: string;
}

/** The elements in folded groups, by name: a search finds them and unfolds the groups around them. */
export interface HiddenElements {
  /** Kind, role, label, sub, title: the iterations of a loop share them. */
  names: [NodeKind, Role, string, string, string][];
  /** Id, place of its name in `names`, group; in the order of the program, without stubs. */
  nodes: ([ElementId, number, ElementId | null])[];
  /** A group inside of a folded one. */
  groups: HiddenGroup[];
}

/** A group inside of a folded one. */
export interface HiddenGroup {
  /** The id, as in `nodes`. */
  id: ElementId;
  /** The name of the module, function or iteration. */
  label: string;
  /** The group around it. */
  within: ElementId | null;
  /** Present for an iteration of a loop. */
  round?: true;
}

/** A question that a chapter asks before its move; the move shows the answer. */
export interface Question {
  /** The question. */
  text: string;
  /** The answers that are offered; none for an open question. */
  choices: Choice[];
  /** The text that follows when the move has shown the answer. */
  why?: string;
}

/** An answer that is offered to a question. */
export interface Choice {
  /** The answer. */
  text: string;
  /** Whether it is true. */
  right: boolean;
}

/** An edit that a chapter proposes. */
export interface Try {
  /** As the author wrote it: `gradient = [0, 1], retain_graph = False`. */
  text: string;
  /** The changes of the recording that it stands for. */
  edits?: Edits;
  /** Why it stands for none. */
  problem?: string;
}

/**
 * The kind of a problem that raised no error. Code that treats findings differently uses their kind, never a word of
 * their texts.
 */
export type FindingKind =
  | "nan" // an op of the forward pass gives the first nan
  | "inf" // an op of the forward pass gives the first inf
  | "nan-gradient" // a VJP sends on the first nan
  | "inf-gradient" // a VJP sends on the first inf
  | "growth" // numbers that overflow later pass a size here that those of a sound program seldom have
  | "divergence" // each update makes the loss larger
  | "sum" // a backward call adds to the gradient of an earlier one
  | "not-zeroed" // the same, and a parameter was updated in between
  | "other-loss" // a step uses gradients that the loss of another network left, such as a discriminator's
  | "cleared" // gradients are cleared after backward, before the optimiser's step
  | "not-called" // a method such as `opt.step` is named without parentheses
  | "unused-clip" // gradients are clipped before they arrive, while they are scaled, or after the step that uses them
  | "unreached" // an optimiser holds a parameter that no gradient comes to
  | "unheld" // a module was changed after its optimiser was made, which does not hold the new parameter
  | "unlisted" // a module uses a parameter that it does not list, so no optimiser holds it
  | "stalled" // an op passes on zeros alone in every backward call
  | "dead-units" // most units of a layer are 0 for every example of a batch
  | "alike-units" // the units of a layer began with the same weights, and stay copies of each other
  | "vanishing" // a gradient fades to a millionth on its way back through equal steps or layers
  | "exploding" // a gradient grows a million times on its way back
  | "loss-dimension" // probabilities sum to 1 along another dimension than that of the classes
  | "no-logarithm" // nll_loss or kl_div of probabilities
  | "log-target" // kl_div against logarithms of probabilities
  | "softmax-twice" // cross entropy, or the logits of a distribution, of probabilities
  | "one-class" // a loss of the softmax of a single number, which is always 1
  | "swapped" // a loss with its target first and its prediction second
  | "sigmoid-twice" // binary cross entropy, which takes scores, of probabilities
  | "target-range" // a binary cross entropy with targets below 0 or above 1
  | "view-order" // a view that gives two dimensions each other's size does not swap them
  | "flat-scores" // a cross entropy of cosines that are multiplied by a temperature below 1
  | "negated" // updates make the probabilities of the targets smaller, because of the loss's sign
  | "constant-term" // a loss adds the value of another without its graph
  | "attention-dimension" // attention weights sum to 1 over the batch or the heads
  | "batch-as-time" // a recurrent layer without batch_first reads a batch of sequences as steps
  | "same-target" // a language model's targets are the tokens that it reads at the same positions
  | "padding" // a loss counts positions that an embedding with padding_idx read as padding
  | "write" // a saved value was changed in a way that no version counts
  | "cut" // an op of a tensor and of its detached copy
  | "copy" // torch.tensor() made a leaf of a tensor with a history
  | "leaf" // `.grad` was asked of a tensor that is not a leaf
  | "tie" // several elements are the largest or the smallest
  | "kink" // a function has no derivative at this value
  | "cast" // a gradient lost digits when it was cast
  | "shape" // a column against a row is spread to a matrix
  | "rounded" // a gradient is too small for float16
;

/**
 * Stable across steps, edits and folds: `t3` tensor 3, `t3.1` its version 1, `n5` the sixth op that the program ran
 * (commands are not counted), `n2.0` the first that backward call 2 recorded, `t3@n5` the stub of `t3` at `n5`, `g…` a
 * group, `e…` an edge.
 */
export type ElementId = string;

/** A position in the program's text; the first line is 1, the first column 0. */
export interface Code {
  /** The index of the file in `program.files`. */
  file: number;
  /** The first line. */
  line: number;
  /** The last line. */
  end: number;
  /** In characters. */
  col: number;
  /** The column after the last character. */
  stop: number;
}

/** The place of a value in the `values` of its document. */
export type ValueId = number;

/** Source cell, target cell, and the local derivative of the one by the other, where it is not zero. */
export type Wire = [number, number, Num];

/** A number; JSON has no nan and no infinities, so these are text. */
export type Num = number | "nan" | "inf" | "-inf";

/** A line of the program at which something was recorded. */
export interface Line {
  /** The index of its file in `program.files`. */
  file: number;
  /** Its number, from 1. */
  line: number;
  /** How often it ran, according to the recording; null if it only made a leaf. */
  runs: number | null;
  /**
   * The norm of the largest gradient that an op or a leaf of this line, or of a function that it calls, receives; null
   * if none does.
   */
  norm: Num | null;
}

/** The gradient of one input of an op, from the rule itself. */
export interface Formula {
  /** The name of the input in the rule. */
  input: string;
  /** The formula as plain text. */
  text: string;
  /** The formula in TeX. */
  tex: string;
  /**
   * The meaning of each name in the formula: an input, `result` or `result[1]`. U+0304 follows the name of a gradient;
   * a tensor without a name has a letter that is unique in the program.
   */
  terms: Record<string, string>;
  /** The meaning of each function, sign and further result. */
  words: Record<string, string>;
  /** The backward calls that needed it, if not all calls that ran the rule did. */
  calls?: number[];
}

/** The content of a row of a card. */
export type RowKey =
  | "value"
  | "grad" // what has been added up in `.grad`
  | "seed" // the gradient that a backward call starts with
;

/** A value over time: pairs `(k, value)`, ascending in `k`, the first at 0; each holds up to the next. */
export type Track<T> = [number, T][];

/** The chip inside of an op: a saved tensor, or all of them. */
export interface Chip {
  /** The field of the node that holds it, or `saved` for all of them. */
  name: string;
  /** The text on it: `saved x`. */
  text: string;
  /** Memory that it keeps, in bytes. */
  bytes: number;
}

/** x and y in layout units, which are CSS px at zoom 1. */
export type Point = [number, number];

/** x0, y0, x1, y1 in layout units. */
export type Box = [number, number, number, number];

/** A value of a tensor: all elements where they are few, else samples. */
export interface Value {
  /** The sizes of the dimensions. */
  shape: number[];
  /** PyTorch's name of it, without `torch.`. */
  dtype: string;
  /** All elements, row by row: of a scene up to 16, of details up to 4,096; null where there are more. */
  data: Num[] | null;
  /** At most 64 samples of more than 16 elements, if a card shows the value as a heat strip; else null. */
  strip: Num[] | null;
  /** Statistics of all elements; null where the file's bytes are damaged, all but `size`. */
  stats: Stats;
  /** Present if the file's bytes differ from those that were saved. */
  damaged?: true;
}

/** Statistics of all elements; null where the file's bytes are damaged, all but `size`. */
export interface Stats {
  /** The smallest finite element, 0 if there is none. */
  min: Num | null;
  /** The largest finite element, 0 if there is none. */
  max: Num | null;
  /** The mean of the finite elements, 0 if there are none. */
  mean: Num | null;
  /** The norm of all elements, as torch has it: nan or inf where one is. */
  norm: Num | null;
  /** How many elements are nan. */
  nan: number | null;
  /** How many elements are infinite. */
  inf: number | null;
  /** How many elements are zero; of truth values those that are False. */
  zeros: number | null;
  /** How many elements there are. */
  size: number;
}

/** The changes of a revision. */
export interface Edits {
  /** The values of a leaf by the number of its tensor. */
  leaves: Record<string, NestedNumbers>;
  /** All commands of the program; null: as recorded. */
  commands: CommandSpec[] | null;
}

/** A number, or a list of these, as deep as the tensor has dimensions. */
export type NestedNumbers = any;

/** A command in edits. */
export interface CommandSpec {
  /** The id of the command in the scene; a new one has its own. */
  id: string;
  /** The kind of the command. */
  kind: "backward" | "zero" | "set";
  /** The event that it follows, -1 for the start; null: after all. */
  after: number | null;
  /** The tensor from which a backward call starts; of several the first. */
  root: number | null;
  /**
   * The seed gradient; `"none"` if none is passed, null for the one that the program passes; for several roots, that of
   * the first.
   */
  gradient: NestedNumbers;
  /** As passed to the call. */
  retain_graph: boolean;
  /** As passed to the call. */
  create_graph: boolean;
  /** The tensors of `inputs=`; null in it is one that has no name in the picture. */
  inputs: (number | null)[] | null;
  /** The tensor whose gradient is zeroed or set. */
  leaf: number | null;
}

/** The answer for one element of a revision. */
export interface Details {
  /** The id of the revision. */
  revision: string;
  /** The element that was asked for. */
  element: ElementId;
  /** The kind of the element; a stub counts as its tensor. */
  kind: "tensor" | "op" | "group";
  /** The description of an element. */
  head: Head;
  /** The formulas of this call, from the rule itself. */
  formula: Formula[];
  /** In the order of their steps. */
  moments: Moment[];
  /** The accumulations into a leaf. */
  ledger: Entry[];
  /** The saved values of an op. */
  saved: SavedValue[];
  /** The values, numbered on their own, not as in the scene. */
  values: Value[];
  /** A figure for each value with more than one element. */
  figures: Figure[];
  /** For ops whose rule can be compared; else null. */
  check: Check | null;
  /** For ops of a program that ran on another library, if the engine has the op; else null. */
  compared: Comparison | null;
  /** For ops, if it is small enough; else null. */
  jacobian: Matrix | null;
  /** Null if there are fewer than three points. */
  through: Series | null;
}

/** The description of an element. */
export interface Head {
  /** The name in the program, or of the node. */
  name: string;
  /** The kind of the element, in words. */
  label: string;
  /** The line that made it. */
  code: Code | null;
  /** The shape of a tensor, or of an op's first result. */
  shape: number[] | null;
  /** The dtype of a tensor, or of an op's first result. */
  dtype: string | null;
  /** `cpu` or `cuda`. */
  device: string;
  /** The sequence number of the node: the higher one runs first in backward. */
  sequence_nr: number | null;
  /** For an op that only the library of the program has: a sentence of its documentation there; else empty. */
  about: string;
}

/** The arithmetic of a step: upstream gradient, local derivatives, the cotangent per input, sums written out. */
export interface Moment {
  /** The step that it is about. */
  step: number;
  /** The expression or the call. */
  title: string;
  /** The arithmetic, line by line. */
  lines: Line[];
}

/** A gradient added to `.grad` of a leaf, or written there by the program. */
export interface Entry {
  /** The step at which it arrived. */
  step: number;
  /** The number of the backward call; null if the program wrote the gradient. */
  call: number | null;
  /** Its origin, in words. */
  label: string;
  /** `.grad` before. */
  before: ValueId | null;
  /** The gradient that was added. */
  added: ValueId | null;
  /** `.grad` after. */
  after: ValueId | null;
  /** The call, or the line that wrote it. */
  code: Code | null;
}

/** A value that an op saved. */
export interface SavedValue {
  /** The field of the node that holds it. */
  name: string;
  /** A description, with its value if that is short. */
  text: string;
  /** Memory that it keeps, in bytes. */
  bytes: number;
  /** Without `none`; it may be empty. */
  track: Track<Saved>;
  /** The backward call that freed it. */
  freed_by: Code | null;
  /** Its state, in words. */
  label: string;
}

/** A picture of the elements of a value over time. */
export interface Figure {
  /** The part of the element that it shows. */
  of: FigureOf;
  /** Its heading. */
  title: string;
  /** How it is drawn. */
  kind: "heatmap" | "histogram";
  /** The value that it shows. */
  track: Track<ValueId | null>;
}

/**
 * The elements of a figure: for a tensor those of a row of its card, for an op those of its result or upstream
 * gradient.
 */
export type FigureOf = "value" | "seed" | "grad" | "result" | "upstream";

/** One VJP against finite differences. */
export interface Check {
  /** The comparison and its result, in words. */
  text: string;
  /** The worst relative difference. */
  worst: Num;
  /** Whether the rule passes. */
  agrees: boolean;
}

/** The recorded numbers of a call against those of the engine's op, if the program ran on another library. */
export interface Comparison {
  /** The name and the version of the library. */
  library: string;
  /** How far they are apart. */
  text: string;
  /** The largest difference relative to the largest number. */
  worst: Num;
  /** Whether it is no more than rounding. */
  agrees: boolean;
}

/** The local Jacobian of a call by one input: a row for each element of the result. */
export interface Matrix {
  /** The name of the input. */
  input: string;
  /** How many rows it has. */
  rows: number;
  /** How many columns it has: one for each element of the input. */
  cols: number;
  /** Row by row. */
  data: Num[];
}

/** The results of the same code, or the gradients of a leaf, if there are three or more. */
export interface Series {
  /** The name of the measure. */
  title: string;
  /** `norm` of gradients, or `size` of numbers. */
  kind: "norm" | "size";
  /** How often; if more than 256, that many evenly spaced points are sent. */
  of: number;
  /** One for each iteration. */
  points: SeriesPoint[];
}

/** One iteration. */
export interface SeriesPoint {
  /** The name of the iteration. */
  label: string;
  /** Its card; null where it has none. */
  element: ElementId | null;
  /** Whether it is the requested element. */
  here: boolean;
  /** The number; null before there is one. */
  track: Track<Num | null>;
}

/** A whole run in a few numbers per iteration and parameter. */
export interface RunOverview {
  /** Its id. */
  program: string;
  /** The recording, counted from 1. */
  version: number;
  /** The name of each column: an iteration, or several. */
  labels: string[];
  /** The section with which a column begins. */
  first: number[];
  /** The section with which it ends. */
  last: number[];
  /** The value from which the first backward call of each column starts; null where that has another name. */
  loss: (Num | null)[];
  /** The name of `loss`: "loss", or its name in the program if there are others. */
  root: string;
  /** The roots of further backward calls, as of a GAN; empty if all columns have one. */
  others: RunRoot[];
  /** The norm of all gradients together; "nan" where one has an element that is nan or an infinity. */
  total: (Num | null)[];
  /** The learning rate of the optimiser's first parameter group. */
  rate: (number | null)[];
  /** In the order of the forward pass. */
  parameters: RunParameter[];
  /** Their numbers. */
  quantities: Quantities;
  /** The problems that these numbers show, the worst first. */
  findings: RunFinding[];
  /** The most iterations that are one column, of which it has the largest numbers and the last loss. */
  joined: number;
  /** The number of the backward call that each column is, in a program of several without iterations; else empty. */
  calls: number[];
  /** Columns in which a weight was changed. */
  updates: number;
  /** The first and the last scale of a GradScaler, without which losses and gradients are given; else empty. */
  scales: number[];
  /** Columns whose update a GradScaler left out, because a gradient was not finite. */
  left_out: number;
  /** Further iterations of the program, which were not recorded because the recording paused. */
  skipped: number;
  /** Forward ops of the run. */
  ops: number;
  /** The size of its file; null if there is none. */
  bytes: number | null;
}

/** A further value from which backward calls of all or of some columns start. */
export interface RunRoot {
  /** Its name in the program. */
  name: string;
  /** Its value in each column; null for none. */
  loss: (Num | null)[];
}

/** A row of the overview. */
export interface RunParameter {
  /** Its name, with the path of its module. */
  name: string;
  /** The module that it is shown in; empty for none. */
  group: string;
  /** The lengths of its dimensions. */
  shape: number[];
  /** Whether its update ratio is an estimate from a sample of its elements. */
  sampled: boolean;
  /** Whether nothing is learnt in it: an input whose gradient the program asks for. */
  input: boolean;
}

/** The numbers of all parameters: one list per parameter, one number per column, null if there is none. */
export interface Quantities {
  /** The norm of the gradient's finite elements, after the iteration's last backward call that reached it. */
  norm: ((number | null)[])[];
  /**
   * The norm of the update, which is the change up to the next gradient, over the norm of the weight before it; of
   * several updates the largest.
   */
  ratio: ((number | null)[])[];
  /** The share of zeros in the gradient. */
  zeros: ((number | null)[])[];
  /** How many elements of the gradient are nan or an infinity. */
  nonfinite: ((number | null)[])[];
  /** The magnitude of the gradient's largest finite element. */
  largest: ((number | null)[])[];
}

/** A problem of a run, with the place that shows it. */
export interface RunFinding {
  /** The kind of the problem. */
  kind: RunFindingKind;
  /** The problem, in few words. */
  label: string;
  /** The cause, with the numbers of this run. */
  why: string;
  /** The usual remedy. */
  fix: string;
  /** The section to which it leads. */
  section: number;
  /** The parameter that shows it; null: the loss. */
  parameter: string | null;
  /** Kinds of findings in the section's graph: it leads to the step of the first one. */
  shows: FindingKind[];
  /** Kinds of problems in the numbers that it is the cause of: it is listed instead of them. */
  explains: RunFindingKind[];
}

export type RunFindingKind =
  | "loss-nonfinite" // the loss is nan or an infinity
  | "gradient-nonfinite" // a gradient has elements that are nan or an infinity
  | "vanishing-depth" // gradients fade on their way to the first layers
  | "exploding-depth" // gradients grow on their way to the first layers
  | "vanishing-run" // gradients fade from iteration to iteration, and the loss does not fall
  | "exploding-run" // gradients grow from iteration to iteration
  | "dead" // parameters receive only zeros from an iteration on
  | "large-updates" // updates are a large part of the weights
  | "small-updates" // updates change almost nothing of the weights
  | "rounded-updates" // updates are smaller than what the weights' dtype can represent
  | "faded-rate" // for much of the run the learning rate is almost zero
  | "unheld" // parameters receive gradients that no optimiser uses
  | "never-updated" // gradients come, and no parameter changes in the whole run
  | "stalled-loss" // the loss does not move
  | "flips" // a gradient changes its sign in every iteration
  | "source" // the graph of an iteration shows the op that produced the first nan or inf of the run
  | "mistake" // the graph of an iteration shows what to write differently: zero the gradients, remove a softmax
  | "iteration" // what else the graph of an iteration shows: dead units
;

/** The second part of an overview, which takes longer to compute. */
export interface RunGraphs {
  /** The problems that the graphs of iterations show, the source of a nan or inf before milder mistakes. */
  findings: RunFinding[];
}
