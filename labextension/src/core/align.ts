/** Two lists side by side: what is the same stands in one row, and what changed beside what it replaces. */

interface Beside {
  readonly left: number | null;
  readonly right: number | null;
}

export interface Pair extends Beside {
  readonly isSame: boolean;
}

/** Pairs of places by the longest common subsequence; between two common entries the others are paired in order. */
export function aligned(left: readonly string[], right: readonly string[]): readonly Pair[] {
  const lengths = commonLengths(left, right);
  const pairs: Pair[] = [];
  let at = 0;
  let other = 0;
  let changed = { left: 0, right: 0 };
  while (at < left.length || other < right.length) {
    if (at < left.length && other < right.length && left[at] === right[other]) {
      pairs.push(...replaced(changed.left, at, changed.right, other), { left: at, right: other, isSame: true });
      at += 1;
      other += 1;
      changed = { left: at, right: other };
    } else if (other >= right.length || (at < left.length && lengths[at + 1]![other]! >= lengths[at]![other + 1]!)) {
      at += 1;
    } else {
      other += 1;
    }
  }
  return [...pairs, ...replaced(changed.left, at, changed.right, other)];
}

/** `lengths[i][j]`: how much the lists have in common from places i and j on. */
function commonLengths(left: readonly string[], right: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let at = left.length - 1; at >= 0; at -= 1) {
    for (let other = right.length - 1; other >= 0; other -= 1) {
      const row = lengths[at]!;
      row[other] = left[at] === right[other] ? lengths[at + 1]![other + 1]! + 1 : Math.max(lengths[at + 1]![other]!, row[other + 1]!);
    }
  }
  return lengths;
}

function replaced(from: number, to: number, start: number, stop: number): readonly Pair[] {
  return Array.from({ length: Math.max(to - from, stop - start) }, (_, place) => ({
    left: from + place < to ? from + place : null,
    right: start + place < stop ? start + place : null,
    isSame: false
  }));
}

/** How much two entries have to do with each other; 0 keeps them apart. */
export type Likeness<Entry> = (left: Entry, right: Entry) => number;

/** Several lists aligned with the first one: rows of places, null where a list has nothing there. */
export function alignedRows<Entry>(lists: readonly (readonly Entry[])[], likeness: Likeness<Entry>): readonly (readonly (number | null)[])[] {
  const [first = [], ...others] = lists;
  const columns = others.map(list => slotsOf(matched(first, list, likeness), first.length));
  const rows: (number | null)[][] = [];
  for (let place = 0; place <= first.length; place += 1) {
    const most = Math.max(0, ...columns.map(column => column.added[place]!.length));
    for (let extra = 0; extra < most; extra += 1) {
      rows.push([null, ...columns.map(column => column.added[place]![extra] ?? null)]);
    }
    if (place < first.length) {
      rows.push([place, ...columns.map(column => column.beside[place] ?? null)]);
    }
  }
  return rows;
}

/** Pairs in the order of both lists that are most alike in all; what has no partner stands alone. */
function matched<Entry>(left: readonly Entry[], right: readonly Entry[], likeness: Likeness<Entry>): readonly Beside[] {
  const best = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let at = left.length - 1; at >= 0; at -= 1) {
    for (let other = right.length - 1; other >= 0; other -= 1) {
      const alike = likeness(left[at]!, right[other]!);
      const both = alike > 0 ? alike + best[at + 1]![other + 1]! : 0;
      best[at]![other] = Math.max(both, best[at + 1]![other]!, best[at]![other + 1]!);
    }
  }
  const pairs: Beside[] = [];
  let at = 0;
  let other = 0;
  while (at < left.length || other < right.length) {
    const here = best[at]?.[other] ?? 0;
    if (at < left.length && here === (best[at + 1]?.[other] ?? 0)) {
      pairs.push({ left: at, right: null });
      at += 1;
    } else if (other < right.length && here === (best[at]?.[other + 1] ?? 0)) {
      pairs.push({ left: null, right: other });
      other += 1;
    } else {
      pairs.push({ left: at, right: other });
      at += 1;
      other += 1;
    }
  }
  return pairs;
}

/** What stands beside each entry of the first list, and what comes before it. */
function slotsOf(pairs: readonly Beside[], length: number): { readonly beside: (number | null)[]; readonly added: number[][] } {
  const beside = new Array<number | null>(length).fill(null);
  const added = Array.from({ length: length + 1 }, (): number[] => []);
  let next = 0;
  for (const pair of pairs) {
    if (pair.left !== null) {
      beside[pair.left] = pair.right;
      next = pair.left + 1;
    } else if (pair.right !== null) {
      added[next]!.push(pair.right);
    }
  }
  return { beside, added };
}
