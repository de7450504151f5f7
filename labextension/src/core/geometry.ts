/** Hulls and the projection of up to three dimensions onto the picture. */

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** The corners of the convex hull, in order (Andrew 1979, the monotone chain). */
export function hull(points: readonly Position[]): readonly Position[] {
  const ordered = [...points].sort((one, other) => one.x - other.x || one.y - other.y);
  if (ordered.length < 3) {
    return ordered;
  }
  return [...chain(ordered), ...chain(ordered.reverse())];
}

function chain(ordered: readonly Position[]): readonly Position[] {
  const corners: Position[] = [];
  for (const next of ordered) {
    while (corners.length >= 2 && turn(corners.at(-2)!, corners.at(-1)!, next) <= 1e-9) {
      corners.pop();
    }
    corners.push(next);
  }
  return corners.slice(0, -1);
}

function turn(origin: Position, first: Position, second: Position): number {
  return (first.x - origin.x) * (second.y - origin.y) - (first.y - origin.y) * (second.x - origin.x);
}

/**
 * The picture's coordinates, y downwards, of a point with up to three dimensions: the first runs right, the second up;
 * of three the second runs into the page and the third up.
 */
export function project(point: readonly number[]): Position {
  const [first = 0, second = 0, third = 0] = point;
  switch (point.length) {
    case 0:
      return { x: 0, y: 0 };
    case 1:
      return { x: first, y: 0 };
    case 2:
      return { x: first, y: -second };
    default:
      // No two nearby integer points coincide in this oblique projection.
      return { x: first + 0.5 * second, y: 0.22 * first - 0.38 * second - third };
  }
}
