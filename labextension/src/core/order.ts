/** Execution order: which instances run at each step of a schedule. */

import type { Model, Ordering, Point, TreeNode } from './model';

/** One step: the instances that run, as numbers of statement and instance. */
export type Moment = readonly (readonly [number, number])[];

interface Timed {
  readonly statement: number;
  readonly instance: number;
  readonly time: Point;
}

/**
 * The steps of `variant` over the drawn instances. With `atOnce` the iterations of parallel loops share a step, as if
 * there were a processor for each.
 */
export function momentsOf(model: Model, variant: Ordering, atOnce: boolean): readonly Moment[] {
  const before = known.get(variant);
  const own = before?.model === model ? before : { model, moments: new Map<boolean, readonly Moment[]>() };
  const moments = own.moments.get(atOnce) ?? newMoments(model, variant, atOnce);
  own.moments.set(atOnce, moments);
  known.set(variant, own);
  return moments;
}

/** Several views ask for the steps of the same order. */
const known = new WeakMap<Ordering, { readonly model: Model; readonly moments: Map<boolean, readonly Moment[]> }>();

function newMoments(model: Model, variant: Ordering, atOnce: boolean): readonly Moment[] {
  const timed = model.statements.flatMap((statement, number) => {
    const times = variant.times.get(statement.name) ?? [];
    return statement.points.flatMap((_, instance): Timed[] => {
      const time = times[instance];
      if (time === undefined) {
        return [];
      }
      if (!atOnce) {
        return [{ statement: number, instance, time }];
      }
      const together = parallelAt(variant.tree, statement.name, time);
      return [{ statement: number, instance, time: time.map((value, axis) => (together.has(axis) ? 0 : value)) }];
    });
  });
  timed.sort((one, other) => compare(one.time, other.time));
  return grouped(timed);
}

function grouped(timed: readonly Timed[]): readonly Moment[] {
  const moments: [number, number][][] = [];
  let last: Point | null = null;
  for (const one of timed) {
    if (last === null || compare(last, one.time) !== 0) {
      moments.push([]);
      last = one.time;
    }
    moments.at(-1)?.push([one.statement, one.instance]);
  }
  return moments;
}

function compare(one: Point, other: Point): number {
  for (let axis = 0; axis < Math.max(one.length, other.length); axis += 1) {
    const difference = (one[axis] ?? 0) - (other[axis] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}

/** The dimensions of time that an instance shares with others at once: those of the parallel loops that it runs in. */
function parallelAt(tree: TreeNode, statement: string, time: Point): ReadonlySet<number> {
  const found = new Set<number>();
  for (let node: TreeNode | undefined = tree; node !== undefined; node = childAt(node, statement, time)) {
    node.members.filter(member => member.coincident).forEach(member => found.add(member.time));
  }
  return found;
}

/** Where a statement stands in several branches, its time tells in which of them an instance runs. */
function childAt(node: TreeNode, statement: string, time: Point): TreeNode | undefined {
  const counted = node.time < 0 ? undefined : node.children[time[node.time] ?? -1];
  return counted?.statements.includes(statement) ? counted : node.children.find(child => child.statements.includes(statement));
}
