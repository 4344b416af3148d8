// A grid over the plane: finds the elements in a box, or under a point, without going through all of them. Pure.

const SIZE = 320;
const MOST_CELLS = 4096; // an item over more grid cells than this is kept in one list that every query reads

export class Grid {
  constructor() {
    this.cells = new Map();
    this.large = [];
    this.stamp = 0;
    this.items = [];
    this.seen = [];
  }

  add(item, box) {
    const number = this.items.length;
    this.items.push({ item, box });
    this.seen.push(0);
    const [c0, r0, c1, r1] = cellRange(box);
    if ((c1 - c0 + 1) * (r1 - r0 + 1) > MOST_CELLS) {
      this.large.push(number);
      return;
    }
    for (let c = c0; c <= c1; c++) for (let r = r0; r <= r1; r++) this.bucket(c, r).push(number);
  }

  bucket(c, r) {
    const key = keyOf(c, r);
    let list = this.cells.get(key);
    if (!list) this.cells.set(key, (list = []));
    return list;
  }

  /** All items whose box meets the box, in the order in which they were added. */
  itemsIn(box) {
    const [c0, r0, c1, r1] = cellRange(box);
    if ((c1 - c0 + 1) * (r1 - r0 + 1) > this.cells.size) return this.items.filter((one) => meet(one.box, box)).map((one) => one.item);
    this.stamp += 1;
    const numbers = [];
    const take = (number) => {
      if (this.seen[number] === this.stamp) return;
      this.seen[number] = this.stamp;
      if (meet(this.items[number].box, box)) numbers.push(number);
    };
    this.large.forEach(take);
    for (let c = c0; c <= c1; c++) for (let r = r0; r <= r1; r++) this.cells.get(keyOf(c, r))?.forEach(take);
    return numbers.sort((a, b) => a - b).map((number) => this.items[number].item);
  }

  at(x, y) {
    return this.itemsIn([x, y, x, y]);
  }
}

/** One number for a column and a row: sooner made than a text, and as exact up to 10^10 units. */
const keyOf = (c, r) => c * 2 ** 26 + r;

function cellRange([x0, y0, x1, y1]) {
  return [Math.floor(x0 / SIZE), Math.floor(y0 / SIZE), Math.floor(x1 / SIZE), Math.floor(y1 / SIZE)];
}

function meet(a, b) {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}
