// Equal commands in a row as one: `opt.zero_grad()`, which has a command per parameter, is one line until it is unfolded. Pure.

const FROM = 5; // commands from which on they stand together

/** @type {(one: any, other: any) => boolean} whether two commands are the same statement of the program */
const isSame = (one, other) => one.kind === other.kind && one.code !== null && one.label === other.label && Boolean(one.unreached) === Boolean(other.unreached)
  && ["file", "line", "col"].every((key) => one.code[key] === other.code?.[key]);

/**
 * The commands of a list in bunches, each with the place of its first one; most bunches have a single command.
 * @template {{ kind: string, label: string, code: any }} T
 * @param {T[]} list
 * @returns {{ at: number, members: T[] }[]}
 */
export function bunches(list) {
  /** @type {{ at: number, members: T[] }[]} */
  const rows = [];
  list.forEach((one, at) => {
    const last = rows[rows.length - 1];
    if (last && isSame(last.members[0], one)) last.members.push(one);
    else rows.push({ at, members: [one] });
  });
  return rows.flatMap(({ at, members }) => (members.length >= FROM ? [{ at, members }] : members.map((one, i) => ({ at: at + i, members: [one] }))));
}
