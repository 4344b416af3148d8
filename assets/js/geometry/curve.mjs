// Smooth curves through the points of a route, and places along them.  Pure.

const BEND = 0.42; // length of an end's tangent, as part of the distance to the next point
const CORNER = 14; // radius of the corners of a route that goes on in another line
const PIECES = 14; // straight pieces per Bezier where arc length is needed

/**
 * Cubic Beziers through `points`: [[x0, y0, c0x, c0y, c1x, c1y, x1, y1] …].
 * Ends leave the boxes `from` and `to` at right angles to the side that they are on.  A route that runs all in one
 * direction has no hump: between two points it never goes beyond them.
 */
export function curveThrough(points, from = null, to = null) {
  const n = points.length;
  if (n < 2) return [];
  const ends = [from && outward(points[0], from, points[1]), to && outward(points[n - 1], to, points[n - 2])];
  for (const axis of [0, 1]) {
    const along = ends.every((end) => !end || end[axis] !== 0);
    if (along && oneWay(points, axis)) return levelCurve(points, axis);
  }
  return changesLine(points) ? roundedCurve(points) : looseCurve(points, ends);
}

/** Whether a route continues in another line of the picture (viz/layout/layered/lines.py): it leads down to the channel between the lines, and down from there. */
export function changesLine(points) {
  if (points.length < 6) return false;
  return points.filter((p, i) => i > 0 && Math.abs(p[0] - points[i - 1][0]) < 0.01 && Math.abs(p[1] - points[i - 1][1]) > 8).length > 1;
}

/** A curve of horizontal and vertical pieces with rounded corners; a piece between two levels climbs over its whole length. */
function roundedCurve(points) {
  const result = [];
  const partWay = (a, b, part) => [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];
  const pushStraight = (a, b) => result.push([...a, ...partWay(a, b, 1 / 3), ...partWay(b, a, 1 / 3), ...b]);
  const climb = (a, b) => result.push([...a, a[0] + (b[0] - a[0]) * BEND, a[1], b[0] - (b[0] - a[0]) * BEND, b[1], ...b]);
  const cornerTowards = (a, b) => partWay(a, b, Math.min(CORNER / (Math.hypot(b[0] - a[0], b[1] - a[1]) || 1), 0.5));
  const isLevel = (a, b) => Math.abs(a[1] - b[1]) < 0.01;
  const isUpright = (a, b) => Math.abs(a[0] - b[0]) < 0.01;
  const isStraight = (a, b) => isLevel(a, b) || isUpright(a, b);
  let from = points[0];
  for (let i = 1; i < points.length; i++) {
    const [before, point, after] = [points[i - 1], points[i], points[i + 1]];
    const turns = after && isStraight(before, point) && isStraight(point, after) && isLevel(before, point) !== isLevel(point, after);
    const [end, next] = turns ? [cornerTowards(point, before), cornerTowards(point, after)] : [point, point];
    (isStraight(before, point) ? pushStraight : climb)(from, end);
    if (turns) result.push([...end, ...partWay(end, point, 0.55), ...partWay(next, point, 0.55), ...next]); // as of a circle
    from = next;
  }
  return result;
}

function oneWay(points, axis) {
  const sign = Math.sign(points.at(-1)[axis] - points[0][axis]);
  return sign !== 0 && points.every((p, i) => i === 0 || (p[axis] - points[i - 1][axis]) * sign > 0);
}

/** Monotone cubics (after Fritsch and Carlson): level at both ends, and nowhere steeper than twice the chords that meet. */
function levelCurve(points, axis) {
  const other = 1 - axis;
  const slope = (i) => (points[i + 1][other] - points[i][other]) / (points[i + 1][axis] - points[i][axis]);
  const slopes = points.map((_, i) => {
    if (i === 0 || i === points.length - 1) return 0;
    const [a, b] = [slope(i - 1), slope(i)];
    return a * b <= 0 ? 0 : Math.sign(a) * Math.min(Math.abs(a + b) / 2, 2 * Math.abs(a), 2 * Math.abs(b));
  });
  return points.slice(1).map((b, i) => {
    const a = points[i];
    const reach = (b[axis] - a[axis]) * BEND;
    const place = (p, run, m) => (axis === 0 ? [p[0] + run, p[1] + m * run] : [p[0] + m * run, p[1] + run]);
    return [...a.slice(0, 2), ...place(a, reach, slopes[i]), ...place(b, -reach, slopes[i + 1]), ...b.slice(0, 2)];
  });
}

/** Catmull-Rom through inner points, for routes that turn around. */
function looseCurve(points, ends) {
  const n = points.length;
  const tangents = points.map((p, i) => {
    if (i > 0 && i < n - 1) {
      return [(points[i + 1][0] - points[i - 1][0]) / 6, (points[i + 1][1] - points[i - 1][1]) / 6];
    }
    const q = i === 0 ? points[1] : points[n - 2];
    const sign = i === 0 ? 1 : -1;
    const out = ends[i === 0 ? 0 : 1];
    if (!out) return [((q[0] - p[0]) * sign) / 3, ((q[1] - p[1]) * sign) / 3];
    const reach = Math.hypot(q[0] - p[0], q[1] - p[1]) * BEND * sign;
    return [out[0] * reach, out[1] * reach];
  });
  const result = [];
  for (let i = 0; i + 1 < n; i++) {
    const [a, b, u, v] = [points[i], points[i + 1], tangents[i], tangents[i + 1]];
    result.push([a[0], a[1], a[0] + u[0], a[1] + u[1], b[0] - v[0], b[1] - v[1], b[0], b[1]]);
  }
  return result;
}

/** Unit normal of the side of a box that the point lies on; null where it is on none, or the route leaves backwards. */
function outward(point, [x0, y0, x1, y1], next) {
  const sides = [[Math.abs(point[0] - x0), -1, 0], [Math.abs(point[0] - x1), 1, 0],
                 [Math.abs(point[1] - y0), 0, -1], [Math.abs(point[1] - y1), 0, 1]];
  const [gap, nx, ny] = sides.reduce((best, side) => (side[0] < best[0] ? side : best));
  if (gap > 6) return null;
  return nx * (next[0] - point[0]) + ny * (next[1] - point[1]) < -1 ? null : [nx, ny];
}

function bezierAt(b, s) {
  const r = 1 - s;
  const [w0, w1, w2, w3] = [r * r * r, 3 * r * r * s, 3 * r * s * s, s * s * s];
  return [w0 * b[0] + w1 * b[2] + w2 * b[4] + w3 * b[6], w0 * b[1] + w1 * b[3] + w2 * b[5] + w3 * b[7]];
}

/** A curve as points with the length up to each, and the box around them: { xs, ys, lengths, total, box }. */
export function flatten(curve) {
  const count = curve.length * PIECES + 1;
  const [xs, ys, lengths] = [new Float64Array(count), new Float64Array(count), new Float64Array(count)];
  let i = 0;
  curve.forEach((bezier, b) => {
    for (let piece = b === 0 ? 0 : 1; piece <= PIECES; piece++, i++) {
      [xs[i], ys[i]] = bezierAt(bezier, piece / PIECES);
      if (i > 0) lengths[i] = lengths[i - 1] + Math.hypot(xs[i] - xs[i - 1], ys[i] - ys[i - 1]);
    }
  });
  return { xs, ys, lengths, total: lengths[count - 1] ?? 0, box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] };
}

/** The place after a part (0 to 1) of the length: { x, y, angle }. */
export function pointAlong(flat, part) {
  const distance = flat.total * Math.min(Math.max(part, 0), 1);
  let low = 1;
  let high = flat.lengths.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (flat.lengths[middle] < distance) low = middle + 1;
    else high = middle;
  }
  const span = flat.lengths[low] - flat.lengths[low - 1] || 1;
  const s = (distance - flat.lengths[low - 1]) / span;
  const [dx, dy] = [flat.xs[low] - flat.xs[low - 1], flat.ys[low] - flat.ys[low - 1]];
  return { x: flat.xs[low - 1] + dx * s, y: flat.ys[low - 1] + dy * s, angle: Math.atan2(dy, dx) };
}

// The functions below run for every possible position of a number and every curve beside it, so they allocate no arrays.

/** Distance of a point to a flattened curve. */
export function distanceTo({ xs, ys }, x, y) {
  let best = Infinity;
  let enough = Infinity; // a square above it is no nearer, however the root is rounded
  for (let i = 1; i < xs.length; i++) {
    const ax = xs[i - 1];
    const ay = ys[i - 1];
    const dx = xs[i] - ax;
    const dy = ys[i] - ay;
    const along = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
    const across = x - ax - dx * along;
    const down = y - ay - dy * along;
    if (across * across + down * down > enough) continue;
    best = Math.min(best, Math.hypot(across, down));
    enough = best * best * ROUNDED;
  }
  return best;
}

const ROUNDED = 1 + 1e-9;

/**
 * Whether a flattened curve passes through a box.
 * @type {(flat: any, box: number[]) => boolean}
 */
export function crossesBox({ xs, ys, box: around }, box) {
  const x0 = box[0];
  const y0 = box[1];
  const x1 = box[2];
  const y1 = box[3];
  if (around && (around[0] > x1 || around[2] < x0 || around[1] > y1 || around[3] < y0)) return false;
  for (let i = 1; i < xs.length; i++) if (cuts(xs[i - 1], ys[i - 1], xs[i], ys[i], x0, y0, x1, y1)) return true;
  return false;
}

/**
 * Whether some of a straight piece lies in a box.
 * @type {(a: number[], b: number[], box: number[]) => boolean}
 */
export function strikes(a, b, box) {
  return cuts(a[0], a[1], b[0], b[1], box[0], box[1], box[2], box[3]);
}

/** The same with plain numbers: whether a part of the piece is left after it is clipped at each side. */
function cuts(ax, ay, bx, by, x0, y0, x1, y1) {
  let from = 0;
  let to = 1;
  const dx = bx - ax;
  if (dx === 0) {
    if (ax < x0 || ax > x1) return false;
  } else {
    from = Math.max(from, ((dx > 0 ? x0 : x1) - ax) / dx);
    to = Math.min(to, ((dx > 0 ? x1 : x0) - ax) / dx);
    if (from > to) return false;
  }
  const dy = by - ay;
  if (dy === 0) return ay >= y0 && ay <= y1;
  from = Math.max(from, ((dy > 0 ? y0 : y1) - ay) / dy);
  to = Math.min(to, ((dy > 0 ? y1 : y0) - ay) / dy);
  return from <= to;
}

/**
 * Whether a flattened curve meets a straight piece: some piece of it does.
 * @type {(flat: any, a: number[], b: number[]) => boolean}
 */
export function crossesLine({ xs, ys, box }, [ax, ay], [bx, by]) {
  if (!strikes([ax, ay], [bx, by], box)) return false;
  const side = (px, py, qx, qy, x, y) => Math.sign((qx - px) * (y - py) - (qy - py) * (x - px));
  for (let i = 1; i < xs.length; i++) {
    const [px, py, qx, qy] = [xs[i - 1], ys[i - 1], xs[i], ys[i]];
    if (side(px, py, qx, qy, ax, ay) !== side(px, py, qx, qy, bx, by) && side(ax, ay, bx, by, px, py) !== side(ax, ay, bx, by, qx, qy)) return true;
  }
  return false;
}

/** Whether a flattened curve comes nearer to a box than `reach`. */
export function comesWithin(flat, box, reach) {
  const wide = [box[0] - reach, box[1] - reach, box[2] + reach, box[3] + reach];
  const [x0, y0, x1, y1] = flat.box;
  return x0 <= wide[2] && wide[0] <= x1 && y0 <= wide[3] && wide[1] <= y1 && crossesBox(flat, wide) && distanceToBox(flat, box) < reach;
}

/** Distance of a flattened curve to a box; 0 where it passes through. */
export function distanceToBox(flat, box) {
  if (crossesBox(flat, box)) return 0;
  const [x0, y0, x1, y1] = box;
  const { xs, ys } = flat;
  let best = Math.min(distanceTo(flat, x0, y0), distanceTo(flat, x1, y0), distanceTo(flat, x0, y1), distanceTo(flat, x1, y1));
  for (let i = 0; i < xs.length; i++) {
    const across = Math.max(x0 - xs[i], 0, xs[i] - x1);
    const down = Math.max(y0 - ys[i], 0, ys[i] - y1);
    if (across < best && down < best) best = Math.min(best, Math.hypot(across, down));
  }
  return best;
}
