/** What the domain view draws, before any pixel: panes with axes, and instances with their place on them. */

import { loopsOf, rowText, type Loop } from './loops';
import type { Model, Point, Variant } from './model';
import { instanceKey } from './selection';
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
  /** The statements that are in it, as numbers. */
  readonly statements: readonly number[];
}

/** `meaning` is what `label` stands for, where that is too long for a picture. */
export interface Axis {
  readonly label: string;
  readonly meaning: string;
  readonly low: number;
  readonly high: number;
}

/** Values of sliced axes by number of the axis. */
export type Slices = ReadonlyMap<number, number>;

export const MOST_AXES = 3;
/** A longer label would run out of the picture, or over another one. */
const LONGEST_LABEL = 14;

export function panesOf(model: Model, variant: Variant | undefined, space: Space): readonly Pane[] {
  if (space === 'schedule' && variant !== undefined) {
    return [scheduledPane(model, variant)];
  }
  return model.statements.flatMap((statement, number) => {
    const marks = statement.points.map((place, instance) => ({ statement: number, instance, place }));
    const labels = statement.iterators.map(label => ({ label, meaning: '' }));
    const pane = paneOf(statement.name, statement.name, labels, marks);
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
  const labels = dimensions.map((dimension, number) => {
    const here = loops.filter(loop => loop.member.time === dimension);
    const rows = [...new Set(here.map(loop => rowText(loop.member)))].join(' | ');
    return rows.length <= LONGEST_LABEL ? { label: rows, meaning: '' } : { label: nameOf(here, number), meaning: rows };
  });
  return paneOf('schedule', `schedule ${variant.name}`, labels, marks);
}

/** What a person calls the loops of a dimension, where that is short. */
function nameOf(loops: readonly Loop[], number: number): string {
  const names = [...new Set(loops.map(loop => loop.member.address))].join(' | ');
  return names !== '' && names.length <= LONGEST_LABEL ? names : `row ${number + 1}`;
}

function paneOf(
  key: string,
  title: string,
  labels: readonly { readonly label: string; readonly meaning: string }[],
  marks: readonly Mark[]
): Pane {
  const axes = labels.map((label, axis) => {
    const values = marks.map(mark => mark.place[axis] ?? 0);
    return { ...label, low: least(values), high: -least(values.map(value => -value)) };
  });
  return { key, title, axes, marks, statements: [...new Set(marks.map(mark => mark.statement))] };
}

function least(values: readonly number[]): number {
  return values.reduce((low, value) => Math.min(low, value), values[0] ?? 0);
}

/**
 * At most three axes can be drawn at once: those with a single value are held there, where two others are left, and of
 * the others the outermost ones in the middle.
 */
export function firstSlices(pane: Pane): Slices {
  const all = pane.axes.map((axis, number) => ({ axis, number }));
  const wide = all.filter(({ axis }) => axis.high > axis.low);
  const flat = pane.axes.length >= MOST_AXES && wide.length >= 2 ? all.filter(({ axis }) => axis.high === axis.low) : [];
  const others = flat.length > 0 ? wide : all;
  const held = [...flat, ...others.slice(0, Math.max(0, others.length - MOST_AXES))];
  return new Map(held.map(({ axis, number }) => [number, valueNearMiddle(pane, axis, number)]));
}

function valueNearMiddle(pane: Pane, axis: Axis, number: number): number {
  const middle = (axis.low + axis.high) / 2;
  const values = pane.marks.map(mark => mark.place[number] ?? 0);
  return values.reduce((best, value) => (Math.abs(value - middle) < Math.abs(best - middle) ? value : best), axis.low);
}

/**
 * Slices that hold the instances `keys` of a pane, changed as little as can be; the same slices where they are in it
 * already, or where there are no such slices.
 */
export function slicesAround(pane: Pane, keys: ReadonlySet<string>, slices: Slices): Slices {
  const marks = slices.size === 0 ? [] : pane.marks.filter(mark => keys.has(instanceKey(mark.statement, mark.instance)));
  const [first] = marks;
  if (first === undefined || marks.every(mark => isInSlice(mark, slices))) {
    return slices;
  }
  const all = pane.axes.map((_, axis) => axis);
  const agreeing = all.filter(axis => marks.every(mark => mark.place[axis] === first.place[axis]));
  const kept = agreeing.filter(axis => slices.has(axis));
  const missing = Math.max(0, pane.axes.length - MOST_AXES - kept.length);
  const added = agreeing.filter(axis => !slices.has(axis)).slice(0, missing);
  return added.length < missing ? slices : new Map([...kept, ...added].map(axis => [axis, first.place[axis] ?? 0]));
}

/** The axes that are drawn: those without a fixed value, the first three of them. */
export function drawnAxes(pane: Pane, slices: Slices): readonly number[] {
  return pane.axes.map((_, number) => number).filter(number => !slices.has(number)).slice(0, MOST_AXES);
}

export function isInSlice(mark: Mark, slices: Slices): boolean {
  return [...slices].every(([axis, value]) => mark.place[axis] === value);
}

/** The instances of a statement that run in one tile; tiles that touch at a side differ in `isOdd`. */
export interface Tile {
  readonly marks: readonly Mark[];
  readonly isOdd: boolean;
}

/** Groups the instances of each statement by the tile they run in; nothing where the schedule has no tiles. */
export function tilesOf(variant: Variant, pane: Pane, model: Model): readonly Tile[] {
  const tileLoops = loopsOf(variant).filter(loop => loop.member.role === 'tile');
  const groups = new Map<string, Mark[]>();
  const places = new Map<string, readonly number[]>();
  for (const mark of pane.marks) {
    const name = model.statements[mark.statement]?.name ?? '';
    const dimensions = tileLoops.filter(loop => loop.statements.includes(name)).map(loop => loop.member.time);
    const time = variant.times.get(name)?.[mark.instance];
    if (dimensions.length > 0 && time !== undefined) {
      const key = `${name} ${dimensions.map(dimension => time[dimension]).join(' ')}`;
      const group = groups.get(key) ?? [];
      group.push(mark);
      groups.set(key, group);
      places.set(key, dimensions.map(dimension => time[dimension] ?? 0));
    }
  }
  const ranks = ranksOf([...places.values()]);
  const isOdd = (key: string): boolean => (places.get(key) ?? []).reduce((sum, value, axis) => sum + (ranks[axis]?.get(value) ?? 0), 0) % 2 === 1;
  return [...groups].map(([key, marks]) => ({ marks, isOdd: isOdd(key) }));
}

/** Per axis the rank of each value: tiles may be counted in their size. */
function ranksOf(places: readonly (readonly number[])[]): readonly ReadonlyMap<number, number>[] {
  const count = Math.max(0, ...places.map(place => place.length));
  return Array.from({ length: count }, (_, axis) => {
    const values = [...new Set(places.map(place => place[axis] ?? 0))].sort((one, other) => one - other);
    return new Map(values.map((value, rank) => [value, rank]));
  });
}
