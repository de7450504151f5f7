/** Execution order: which instances run at each step of a schedule. */

import { loopsOf } from './loops';
import type { Model, Ordering, Point } from './model';

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
  const parallel = atOnce ? parallelDimensions(variant) : new Map<string, ReadonlySet<number>>();
  const timed = model.statements.flatMap((statement, number) => {
    const together = parallel.get(statement.name);
    const times = variant.times.get(statement.name) ?? [];
    return statement.points.flatMap((_, instance): Timed[] => {
      const time = times[instance];
      return time === undefined
        ? []
        : [{ statement: number, instance, time: time.map((value, axis) => (together?.has(axis) ? 0 : value)) }];
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

function parallelDimensions(variant: Ordering): ReadonlyMap<string, ReadonlySet<number>> {
  const found = new Map<string, Set<number>>();
  for (const loop of loopsOf(variant)) {
    for (const statement of loop.member.coincident ? loop.statements : []) {
      const dimensions = found.get(statement) ?? new Set<number>();
      found.set(statement, dimensions.add(loop.member.time));
    }
  }
  return found;
}
