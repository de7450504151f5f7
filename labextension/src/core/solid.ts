/** The exact hull of points in space: its edges, those in front and those behind. */

import { along, hull } from './geometry';

type Solid = readonly [number, number, number];

export interface Edge {
  readonly from: Solid;
  readonly to: Solid;
  readonly isHidden: boolean;
}

interface Facet {
  readonly outward: readonly number[];
  readonly corners: ReadonlySet<number>;
}

/** Every triple of corners is tried as a facet; a hull with more corners than this would be a net, not an outline. */
const MOST_CORNERS = 24;

/** The edges of the convex hull of integer points, as seen against `view`; none of flat sets and of nets. */
export function hullEdges(points: readonly (readonly number[])[], view: readonly number[]): readonly Edge[] {
  const corners = cornersOf(points);
  const facets = corners.length > MOST_CORNERS ? [] : facetsOf(corners);
  return facets.flatMap((one, place) =>
    facets.slice(place + 1).flatMap((other): readonly Edge[] => {
      const [first, ...rest] = [...one.corners].filter(corner => other.corners.has(corner));
      const last = rest.at(-1);
      const isHidden = along(one.outward, view) <= 0 && along(other.outward, view) <= 0;
      return first === undefined || last === undefined ? [] : [{ from: corners[first]!, to: corners[last]!, isHidden }];
    })
  );
}

/** A corner of the hull is a corner of all three slices through it that are parallel to the axes; sorted. */
function cornersOf(points: readonly (readonly number[])[]): readonly Solid[] {
  let left = [...new Map(points.map(([x = 0, y = 0, z = 0]) => [`${x} ${y} ${z}`, [x, y, z] as Solid])).values()];
  for (const axis of [0, 1, 2]) {
    const [first = 0, second = 0] = [0, 1, 2].filter(other => other !== axis);
    const levels = new Map<number, Solid[]>();
    left.forEach(point => levels.set(point[axis]!, [...(levels.get(point[axis]!) ?? []), point]));
    left = [...levels.values()].flatMap(level => {
      const kept = new Set(hull(level.map(point => ({ x: point[first]!, y: point[second]! }))).map(({ x, y }) => `${x} ${y}`));
      return level.filter(point => kept.has(`${point[first]} ${point[second]}`));
    });
  }
  return left.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]);
}

function facetsOf(corners: readonly Solid[]): readonly Facet[] {
  const found = new Map<string, Facet>();
  const numbers = corners.map((_, number) => number);
  for (const first of numbers) {
    for (const second of numbers.slice(first + 1)) {
      for (const third of numbers.slice(second + 1)) {
        const normal = across(corners[first]!, corners[second]!, corners[third]!);
        const sides = corners.map(corner => along(normal, corner) - along(normal, corners[first]!));
        const [low, high] = [Math.min(...sides), Math.max(...sides)];
        if (low !== high && (low === 0 || high === 0)) {
          const inside = numbers.filter(number => sides[number] === 0);
          found.set(inside.join(), { outward: high === 0 ? normal : normal.map(value => -value), corners: new Set(inside) });
        }
      }
    }
  }
  return [...found.values()];
}

/** What stands upright on three points. */
function across(first: Solid, second: Solid, third: Solid): readonly number[] {
  const [a, b, c] = second.map((value, axis) => value - first[axis]!) as unknown as Solid;
  const [d, e, f] = third.map((value, axis) => value - first[axis]!) as unknown as Solid;
  return [b * f - c * e, c * d - a * f, a * e - b * d];
}
