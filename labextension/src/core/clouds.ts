/** What the domain view draws, before any pixel: panes with axes, and instances with their place on them. */

import { loopsOf, rowText } from './loops';
import type { Model, Point, Variant } from './model';
import type { Space } from './state';

/** An instance at its place; `statement` and `instance` are numbers in the model. */
export interface Mark {
  readonly statement: number;
  readonly instance: number;
  readonly place: Point;
}

/** A picture of its own; an axis with a `fixed` value is a slice, null means that it is drawn in full. */
export interface Pane {
  readonly key: string;
  readonly title: string;
  readonly axes: readonly Axis[];
  readonly marks: readonly Mark[];
  readonly notes: readonly string[];
}

export interface Axis {
  readonly label: string;
  readonly low: number;
  readonly high: number;
}

/** Values of sliced axes by number of the axis. */
export type Slices = ReadonlyMap<number, number>;

export const MOST_AXES = 3;

export function panesOf(model: Model, variant: Variant | undefined, space: Space): readonly Pane[] {
  if (space === 'schedule' && variant !== undefined) {
    return [scheduledPane(model, variant)];
  }
  return model.statements.flatMap((statement, number) => {
    const marks = statement.points.map((place, instance) => ({ statement: number, instance, place }));
    const pane = paneOf(statement.name, statement.name, statement.iterators, marks, statement.notes);
    return statement.points.length > 0 && (statement.iterators.length > 0 || model.statements.length === 1) ? [pane] : [];
  });
}

/** All statements over the loops of the schedule; loops over tiles are left out, since tiles are drawn as outlines. */
function scheduledPane(model: Model, variant: Variant): Pane {
  const loops = loopsOf(variant).filter(loop => loop.member.role !== 'tile');
  const dimensions = [...new Set(loops.map(loop => loop.member.time))].sort((one, other) => one - other);
  const marks = model.statements.flatMap((statement, number) =>
    (variant.times.get(statement.name) ?? []).map((time, instance) => ({
      statement: number,
      instance,
      place: dimensions.map(dimension => time[dimension] ?? 0)
    }))
  );
  const labels = dimensions.map(dimension => {
    const rows = loops.filter(loop => loop.member.time === dimension).map(loop => rowText(loop.member));
    return [...new Set(rows)].join(' | ');
  });
  return paneOf('schedule', `order of ${variant.name}`, labels, marks, model.statements.flatMap(one => one.notes));
}

function paneOf(
  key: string,
  title: string,
  labels: readonly string[],
  marks: readonly Mark[],
  notes: readonly string[]
): Pane {
  const axes = labels.map((label, axis) => {
    const values = marks.map(mark => mark.place[axis] ?? 0);
    return { label, low: least(values), high: -least(values.map(value => -value)) };
  });
  return { key, title, axes, marks, notes: [...new Set(notes)] };
}

function least(values: readonly number[]): number {
  return values.reduce((low, value) => Math.min(low, value), values[0] ?? 0);
}

/** At most three axes can be drawn at once: the outermost ones are held in the middle. */
export function firstSlices(pane: Pane): Slices {
  const surplus = Math.max(0, pane.axes.length - MOST_AXES);
  return new Map(
    pane.axes.slice(0, surplus).map((axis, number) => [number, valueNearMiddle(pane, axis, number)])
  );
}

function valueNearMiddle(pane: Pane, axis: Axis, number: number): number {
  const middle = (axis.low + axis.high) / 2;
  const values = pane.marks.map(mark => mark.place[number] ?? 0);
  return values.reduce((best, value) => (Math.abs(value - middle) < Math.abs(best - middle) ? value : best), axis.low);
}

/** The axes that are drawn: those without a fixed value, the first three of them. */
export function drawnAxes(pane: Pane, slices: Slices): readonly number[] {
  return pane.axes.map((_, number) => number).filter(number => !slices.has(number)).slice(0, MOST_AXES);
}

export function isInSlice(mark: Mark, slices: Slices): boolean {
  return [...slices].every(([axis, value]) => mark.place[axis] === value);
}

/** Groups the instances of each statement by the tile they run in; nothing where the schedule has no tiles. */
export function tilesOf(variant: Variant, pane: Pane, model: Model): readonly (readonly Mark[])[] {
  const tileLoops = loopsOf(variant).filter(loop => loop.member.role === 'tile');
  const groups = new Map<string, Mark[]>();
  for (const mark of pane.marks) {
    const name = model.statements[mark.statement]?.name ?? '';
    const dimensions = tileLoops.filter(loop => loop.statements.includes(name)).map(loop => loop.member.time);
    const time = variant.times.get(name)?.[mark.instance];
    if (dimensions.length > 0 && time !== undefined) {
      const key = `${name} ${dimensions.map(dimension => time[dimension]).join(' ')}`;
      const group = groups.get(key) ?? [];
      group.push(mark);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}
