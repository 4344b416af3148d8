// Makes a document out of a similar one; viz/server/lesson/difference.py describes the forms of a difference.

const [PUT, OBJECT] = [0, 1];

/**
 * A new document; what does not change is shared with the old one.
 * @param {any} old
 * @param {any[] | null} difference
 */
export function applyDifference(old, difference) {
  if (difference === null) return old;
  const [kind, what, more] = difference;
  if (kind === PUT) return what;
  const value = kind === OBJECT ? { ...old } : [...old.slice(0, what), ...Array(Math.max(0, what - old.length))];
  for (const [key, change] of Object.entries(kind === OBJECT ? what : more)) value[key] = applyDifference(old[key], change);
  if (kind === OBJECT) for (const key of more) delete value[key];
  return value;
}
