/** Where everything of the domain view lies in the picture: panes beside each other, each with its scale and axes. */

import { MOST_SHAPES } from './cloudCanvas';
import { drawnAxes, isInSlice, type Axis, type Mark, type Pane, type Slices } from './clouds';
import { along, hull, project, viewOf, type Position, type Turn } from './geometry';
import { groupsOf, type Shading } from './groups';
import type { Model, Variant } from './model';
import { instanceKey } from './selection';
import { hullEdges } from './solid';

export interface PlacedMark {
  readonly key: string;
  readonly mark: Mark;
  readonly position: Position;
}

export interface AxisLine {
  readonly label: string;
  readonly from: Position;
  readonly to: Position;
  readonly ticks: readonly (Position & { readonly text: string })[];
}

export interface Outline {
  readonly corners: readonly Position[];
  readonly tint: string;
  readonly label: string;
}

/** How the instances are looked at: what outlines tell, and how three dimensions are turned, null as at first. */
export interface Look {
  readonly shading: Shading;
  readonly turn: Turn | null;
}

export interface Plot {
  readonly pane: Pane;
  readonly title: Position & { readonly text: string };
  readonly marks: readonly PlacedMark[];
  readonly outlines: readonly (readonly Position[])[];
  /** The edges of hulls in space. */
  readonly edges: readonly { readonly from: Position; readonly to: Position; readonly isHidden: boolean }[];
  /** Tiles, or the blocks of a device. */
  readonly groups: readonly Outline[];
  readonly isSolid: boolean;
  /** How far neighbouring points are apart. */
  readonly unit: number;
  /** The names of statements that have a line of their own. */
  readonly lanes: readonly (Position & { readonly text: string })[];
  readonly axes: readonly AxisLine[];
}

export interface Sheet {
  readonly plots: readonly Plot[];
  readonly width: number;
  readonly height: number;
  readonly radius: number;
}

const WIDEST = 680;
/** More pictures than these are drawn smaller, to be seen together. */
const MANY = 6;
/** How far the lines of statements are apart that share a single dimension. */
const LANE = 15;
/** How many letters of a statement's name have room before its line. */
const LANE_LETTERS = 5;
/** The least room for the number at a tick. */
const TICK = 26;
const MARGIN = { left: 44, right: 28, top: 40, bottom: 40 };
/** Where titles begin, about how wide a letter of them is, and how long they may make a pane that is narrower. */
const TITLE = { left: 14, letter: 7.6, most: 24 };

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** How far an outline stays away from its points: those of neighbours do not touch. */
const PADDING = 0.3;

/** A small octagon, so that outlines get room and round corners. */
function around(at: Position, radius: number): readonly Position[] {
  const half = radius / 2;
  const corners = [[radius, half], [half, radius], [-half, radius], [-radius, half], [-radius, -half], [-half, -radius], [half, -radius], [radius, -half]] as const;
  return radius === 0 ? [at] : corners.map(([x, y]) => ({ x: at.x + x, y: at.y + y }));
}

/** Lays the panes out in rows. */
export function layOut(
  panes: readonly Pane[],
  slices: ReadonlyMap<string, Slices>,
  model: Model,
  variant: Variant | undefined,
  look: Look
): Sheet {
  const plots: Plot[] = [];
  let left = 0;
  let top = 0;
  let rowHeight = 0;
  let width = 0;
  let radius = 5;
  for (const pane of panes) {
    const own = slices.get(pane.key) ?? new Map<number, number>();
    const sketch = sketchOf(pane, own, panes.length, look.turn);
    if (left > 0 && left + sketch.width > WIDEST) {
      left = 0;
      top += rowHeight;
      rowHeight = 0;
    }
    plots.push(plotOf(sketch, pane, own, { x: left, y: top }, model, variant, look));
    left += sketch.width;
    rowHeight = Math.max(rowHeight, sketch.height);
    width = Math.max(width, left);
    radius = Math.min(radius, sketch.lift > 0 ? LANE / 3 : radius, Math.max(2.2, sketch.unit * 0.2));
  }
  return { plots, width: Math.max(width, 160), height: Math.max(top + rowHeight, 60), radius };
}

interface Sketch {
  readonly shown: readonly number[];
  readonly box: Box;
  readonly unit: number;
  readonly width: number;
  readonly height: number;
  /** The room above the last lane. */
  readonly lift: number;
}

/** The beginning of a text that has more letters than there is room for. */
function clipped(text: string, letters: number): string {
  return text.length <= letters ? text : `${text.slice(0, Math.max(1, Math.floor(letters) - 1))}…`;
}

/** The size of a pane: wide ones are drawn with a smaller unit. */
function sketchOf(pane: Pane, slices: Slices, count: number, turn: Turn | null): Sketch {
  const shown = drawnAxes(pane, slices);
  const axes = shown.map(number => pane.axes[number]!);
  const box = turn !== null && shown.length === 3 ? roundBox(axes, turn) : boxOf(cornersOf(axes).map(corner => project(corner)));
  const [room, tall] = count > MANY ? [160, 170] : count > 1 ? [250, 260] : [520, 320];
  const lift = shown.length === 1 ? (pane.statements.length - 1) * LANE : 0;
  // Points that are painted need less room than those that are elements.
  const least = pane.marks.length > MOST_SHAPES ? 1 : 4;
  const unit = Math.max(least, Math.min(38, room / Math.max(1, box.width), tall / Math.max(1, box.height)));
  return {
    shown,
    box,
    unit,
    width: Math.max(box.width * unit + MARGIN.left + MARGIN.right, 110, TITLE.left + TITLE.letter * Math.min(TITLE.most, pane.title.length)),
    height: box.height * unit + lift + MARGIN.top + MARGIN.bottom,
    lift
  };
}

/** The room that a solid takes however it is turned, so that the picture stays as large as it is. */
function roundBox(axes: readonly Axis[], turn: Turn): Box {
  const radius = Math.hypot(...axes.map(axis => axis.high - axis.low)) / 2;
  const middle = project(axes.map(axis => (axis.high + axis.low) / 2), turn);
  return { left: middle.x - radius, top: middle.y - radius, width: 2 * radius, height: 2 * radius };
}

function cornersOf(axes: readonly Axis[]): readonly (readonly number[])[] {
  return axes.reduce<readonly (readonly number[])[]>(
    (corners, axis) => corners.flatMap(corner => [[...corner, axis.low], [...corner, axis.high]]),
    [[]]
  );
}

function boxOf(positions: readonly Position[]): Box {
  const xs = positions.map(one => one.x);
  const ys = positions.map(one => one.y);
  const left = Math.min(...xs, Infinity);
  const top = Math.min(...ys, Infinity);
  return { left, top, width: Math.max(...xs, -Infinity) - left, height: Math.max(...ys, -Infinity) - top };
}

function plotOf(
  sketch: Sketch,
  pane: Pane,
  slices: Slices,
  origin: Position,
  model: Model,
  variant: Variant | undefined,
  look: Look
): Plot {
  const isSolid = sketch.shown.length === 3;
  const view = viewOf(look.turn);
  const pixel = (place: readonly number[]): Position => {
    const flat = project(place, look.turn);
    return {
      x: origin.x + MARGIN.left + (flat.x - sketch.box.left) * sketch.unit,
      y: origin.y + MARGIN.top + sketch.lift + (flat.y - sketch.box.top) * sketch.unit
    };
  };
  const count = model.statements.length;
  const isShared = pane.statements.length > 1;
  const upwards = new Map(pane.statements.map((number, place) => [number, (pane.statements.length - 1 - place) * LANE]));
  const positionOf = (mark: Mark): Position => {
    const at = pixel(sketch.shown.map(axis => mark.place[axis] ?? 0));
    if (sketch.shown.length === 1) {
      return { x: at.x, y: at.y - (upwards.get(mark.statement) ?? 0) };
    }
    // Statements may share a point of the schedule's space: beside each other they can all be seen.
    const shift = isShared ? (mark.statement - (count - 1) / 2) * Math.min(0.24, 0.8 / count) * sketch.unit : 0;
    return { x: at.x + shift, y: at.y };
  };
  const laneOf = (number: number): Position & { readonly text: string } => ({
    x: origin.x + MARGIN.left - 12,
    y: origin.y + MARGIN.top + sketch.lift - (upwards.get(number) ?? 0),
    text: clipped(model.statements[number]?.name ?? '', LANE_LETTERS)
  });
  const shownOf = (mark: Mark): readonly number[] => sketch.shown.map(axis => mark.place[axis] ?? 0);
  const inside = pane.marks.filter(mark => isInSlice(mark, slices));
  const depths = new Map(isSolid ? inside.map(mark => [mark, along(view, shownOf(mark))]) : []);
  if (isSolid) {
    // What lies in front is painted last.
    inside.sort((one, other) => (depths.get(one) ?? 0) - (depths.get(other) ?? 0));
  }
  const ofStatement = (number: number): readonly Mark[] => inside.filter(mark => mark.statement === number);
  const outlineOf = (marks: readonly Mark[]): readonly Position[] => hull(marks.map(positionOf));
  const statements = [...new Set(inside.map(mark => mark.statement))];
  const groups = variant === undefined ? [] : groupsOf(look.shading, variant, { ...pane, marks: inside }, model);
  const edges = isSolid ? statements.flatMap(number => hullEdges(ofStatement(number).map(shownOf), view)) : [];
  return {
    pane,
    title: { x: origin.x + TITLE.left, y: origin.y + 13, text: clipped(pane.title, (sketch.width - TITLE.left) / TITLE.letter) },
    marks: inside.map(mark => ({ key: instanceKey(mark.statement, mark.instance), mark, position: positionOf(mark) })),
    outlines: statements.map(number => outlineOf(ofStatement(number))),
    edges: edges.map(({ from, to, isHidden }) => ({ from: pixel(from), to: pixel(to), isHidden })),
    groups: groups.map(({ marks, tint, label }) => ({ corners: hull(marks.map(positionOf).flatMap(at => around(at, isSolid ? 0 : PADDING * sketch.unit))), tint, label })),
    isSolid,
    unit: sketch.unit,
    lanes: sketch.shown.length === 1 && isShared ? pane.statements.map(laneOf) : [],
    axes: sketch.shown.map((number, order) => axisLine(pane, sketch.shown, number, order, pixel, look.turn))
  };
}

const OFFSETS: readonly (readonly Position[])[] = [
  [{ x: 0, y: 16 }],
  [{ x: 0, y: 18 }, { x: -18, y: 0 }],
  [{ x: -2, y: 16 }, { x: 12, y: 10 }, { x: -16, y: 0 }]
];

/** An axis beside the picture, from the low corner along one dimension. */
function axisLine(
  pane: Pane,
  shown: readonly number[],
  number: number,
  order: number,
  pixel: (place: readonly number[]) => Position,
  turn: Turn | null
): AxisLine {
  const axis = pane.axes[number]!;
  const isTurned = turn !== null && shown.length === 3;
  const axes = shown.map(other => pane.axes[other]!);
  // In three dimensions the axis into the page starts where the first one ends, outside of the picture.
  const first = axes.map(({ low, high }, place) => (shown.length === 3 && order === 1 && place === 0 ? high : low));
  const start = isTurned ? outerEdge(axes, order, pixel) : first;
  const offset = isTurned ? outwards(axes, order, start, pixel) : OFFSETS[shown.length - 1]?.[order] ?? { x: 0, y: 0 };
  const at = (value: number): Position => {
    const moved = pixel(start.map((low, place) => (place === order ? value : low)));
    return { x: moved.x + offset.x, y: moved.y + offset.y };
  };
  const [from, to] = [at(axis.low), at(axis.high)];
  const room = Math.max(1, Math.min(6, Math.floor(Math.hypot(to.x - from.x, to.y - from.y) / TICK)));
  const step = Math.max(1, Math.ceil((axis.high - axis.low) / room));
  const values = Array.from({ length: Math.floor((axis.high - axis.low) / step) + 1 }, (_, place) => axis.low + place * step);
  return {
    label: axis.label,
    from,
    to,
    ticks: values.map(value => ({ ...at(value), text: String(value) }))
  };
}

/** Where an axis of a turned solid starts: along the edge that lies furthest out, so that its numbers stay readable. */
function outerEdge(axes: readonly Axis[], order: number, pixel: (place: readonly number[]) => Position): readonly number[] {
  const middle = pixel(axes.map(axis => (axis.low + axis.high) / 2));
  const starts = cornersOf(axes.map((axis, place) => (place === order ? { ...axis, high: axis.low } : axis)));
  // Below for what lies, to the left for what stands.
  const outside = (start: readonly number[]): number => {
    const at = pixel(start.map((value, place) => (place === order ? (axes[place]!.low + axes[place]!.high) / 2 : value)));
    return order === 2 ? middle.x - at.x : at.y - middle.y;
  };
  return starts.reduce((best, start) => (outside(start) > outside(best) + 0.01 ? start : best));
}

/** Away from the solid, as far as numbers need. */
function outwards(axes: readonly Axis[], order: number, start: readonly number[], pixel: (place: readonly number[]) => Position): Position {
  const middle = pixel(axes.map(axis => (axis.low + axis.high) / 2));
  const edge = pixel(start.map((value, place) => (place === order ? (axes[place]!.low + axes[place]!.high) / 2 : value)));
  const [x, y] = [edge.x - middle.x, edge.y - middle.y];
  const length = Math.max(1, Math.hypot(x, y));
  return { x: (18 * x) / length, y: (18 * y) / length };
}

/** The nearest point in a direction, the first one without a point to start from: along it counts once, across it three times. */
export function nearest(placed: ReadonlyMap<string, PlacedMark>, from: string | null, direction: Position): string | null {
  const here = placed.get(from ?? '')?.position;
  if (here === undefined) {
    return [...placed.keys()][0] ?? null;
  }
  let best = from;
  let shortest = Infinity;
  for (const [key, one] of placed) {
    const x = one.position.x - here.x;
    const y = one.position.y - here.y;
    const along = x * direction.x + y * direction.y;
    const across = Math.abs(x * direction.y - y * direction.x);
    if (along > 0.5 && along + 3 * across < shortest) {
      shortest = along + 3 * across;
      best = key;
    }
  }
  return best;
}
