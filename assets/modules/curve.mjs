// Smooth curves through the points of a route, and places along them.  Pure.

const BEND = 0.42; // length of an end's tangent, as part of the distance to the next point
const PIECES = 14; // straight pieces per Bezier where arc length is needed

/**
 * Cubic Beziers through `points`: [[x0, y0, c0x, c0y, c1x, c1y, x1, y1] …].
 * Ends leave the boxes `from` and `to` at right angles to the side that they are on.
 */
export function curveThrough(points, from = null, to = null) {
  const n = points.length;
  if (n < 2) return [];
  const tangents = points.map((p, i) => {
    if (i > 0 && i < n - 1) {
      return [(points[i + 1][0] - points[i - 1][0]) / 6, (points[i + 1][1] - points[i - 1][1]) / 6];
    }
    const q = i === 0 ? points[1] : points[n - 2];
    const out = (i === 0 ? from : to) && outward(p, i === 0 ? from : to, q);
    if (!out) return [((q[0] - p[0]) * (i === 0 ? 1 : -1)) / 3, ((q[1] - p[1]) * (i === 0 ? 1 : -1)) / 3];
    const reach = Math.hypot(q[0] - p[0], q[1] - p[1]) * BEND * (i === 0 ? 1 : -1);
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

export function bezierAt(b, s) {
  const r = 1 - s;
  const [w0, w1, w2, w3] = [r * r * r, 3 * r * r * s, 3 * r * s * s, s * s * s];
  return [w0 * b[0] + w1 * b[2] + w2 * b[4] + w3 * b[6], w0 * b[1] + w1 * b[3] + w2 * b[5] + w3 * b[7]];
}

/** A curve as points with the length up to each: { xs, ys, lengths, total }. */
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
  return { xs, ys, lengths, total: lengths[count - 1] ?? 0 };
}

/** The place after a part (0 to 1) of the length: { x, y, angle }. */
export function pointAlong(flat, part) {
  const wanted = flat.total * Math.min(Math.max(part, 0), 1);
  let low = 1;
  let high = flat.lengths.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (flat.lengths[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  const span = flat.lengths[low] - flat.lengths[low - 1] || 1;
  const s = (wanted - flat.lengths[low - 1]) / span;
  const [dx, dy] = [flat.xs[low] - flat.xs[low - 1], flat.ys[low] - flat.ys[low - 1]];
  return { x: flat.xs[low - 1] + dx * s, y: flat.ys[low - 1] + dy * s, angle: Math.atan2(dy, dx) };
}

/** Distance of a point to a flattened curve. */
export function distanceTo(flat, x, y) {
  let best = Infinity;
  for (let i = 1; i < flat.xs.length; i++) {
    const [ax, ay] = [flat.xs[i - 1], flat.ys[i - 1]];
    const [dx, dy] = [flat.xs[i] - ax, flat.ys[i] - ay];
    const along = Math.min(Math.max(((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1), 0), 1);
    best = Math.min(best, Math.hypot(x - ax - dx * along, y - ay - dy * along));
  }
  return best;
}
