/** Hulls and the projection of up to three dimensions onto the picture. */

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** How three dimensions are turned, in degrees: around the third one, and how far one looks down on them. */
export interface Turn {
  readonly azimuth: number;
  readonly elevation: number;
}

/** About how they stand before anybody turns them. */
export const FIRST_TURN: Turn = { azimuth: 32, elevation: 36 };

export function turned({ azimuth, elevation }: Turn, right: number, up: number): Turn {
  return { azimuth: (((azimuth + right) % 360) + 360) % 360, elevation: Math.max(-90, Math.min(90, elevation + up)) };
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
 * of three the second runs into the page and the third up, unless they are turned.
 */
export function project(point: readonly number[], how: Turn | null = null): Position {
  const [first = 0, second = 0, third = 0] = point;
  switch (point.length) {
    case 0:
      return { x: 0, y: 0 };
    case 1:
      return { x: first, y: 0 };
    case 2:
      return { x: first, y: -second };
    default:
      // Integer points up to six steps apart stay more than a third of a step apart in this oblique projection.
      return how === null ? { x: first + 0.56 * second, y: 0.32 * first - 0.51 * second - third } : turnedPosition(point, how);
  }
}

/** The parallel projection onto a plane that faces the reader. */
function turnedPosition([first = 0, second = 0, third = 0]: readonly number[], how: Turn): Position {
  const { across, into, over, up } = directions(how);
  return { x: across * first + into * second, y: over * (into * first - across * second) - up * third };
}

function directions({ azimuth, elevation }: Turn): { readonly across: number; readonly into: number; readonly over: number; readonly up: number } {
  const [around, above] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
  return { across: Math.cos(around), into: Math.sin(around), over: Math.sin(above), up: Math.cos(above) };
}

/** From the picture towards the reader: what is further along it lies in front. */
export function viewOf(how: Turn | null): readonly number[] {
  if (how === null) {
    return [0.56, -1, 0.6892];
  }
  const { across, into, over, up } = directions(how);
  return [into * up, -across * up, over];
}

export function along(direction: readonly number[], point: readonly number[]): number {
  return direction.reduce((sum, factor, axis) => sum + factor * (point[axis] ?? 0), 0);
}
