import { expect, test } from 'vitest';

import { drawnAxes, firstSlices, panesOf, slicesAround, tilesOf } from '../../src/core/clouds';
import { partsDrawn } from '../../src/core/domainNotes';
import { decisionOf, loopsOf } from '../../src/core/loops';
import type { Model, Variant } from '../../src/core/model';
import { readModel } from '../../src/core/read';
import { sample } from './sample';

function read(change: Record<string, unknown> = {}): Model {
  const reading = readModel({ ...sample(), ...change });
  if ('problem' in reading) {
    throw new Error(reading.problem);
  }
  return reading.model;
}

/** The sample with one statement in four dimensions, two values in each. */
function deep(): Model {
  const [statement] = sample()['statements'] as Record<string, unknown>[];
  const points = Array.from({ length: 16 }, (_, number) => [3, 2, 1, 0].map(bit => (number >> bit) & 1));
  return read({ statements: [{ ...statement, iterators: ['t', 'i', 'j', 'k'], points, total: 1_234_567, notes: ['only t up to 1'] }] });
}

const keys = (...instances: readonly number[]): ReadonlySet<string> => new Set(instances.map(one => `0/${one}`));

test('a loop with one value is no dimension of the picture', () => {
  const [statement] = sample()['statements'] as Record<string, unknown>[];
  const axesOf = (iterators: readonly string[], points: readonly (readonly number[])[]): readonly number[] => {
    const [pane] = panesOf(read({ statements: [{ ...statement, iterators, points }] }), undefined, 'source');
    return drawnAxes(pane!, firstSlices(pane!));
  };
  expect(axesOf(['b', 'i', 'j'], [[0, 0, 0], [0, 1, 2], [0, 2, 2]])).toEqual([1, 2]);
  expect(axesOf(['t', 'b', 'i', 'j'], [[0, 8, 0, 0], [1, 8, 1, 2], [2, 8, 2, 2]])).toEqual([0, 2, 3]);
  // Fewer than two dimensions would be no picture of three loops.
  expect(axesOf(['b', 'i', 'j'], [[0, 0, 0], [0, 0, 1]])).toEqual([0, 1, 2]);
});

test('a slice follows a pair, and stays where the pair is in it', () => {
  const [pane] = panesOf(deep(), undefined, 'source');
  const slices = new Map([[0, 0]]);
  expect(slicesAround(pane!, keys(1, 2), slices)).toBe(slices);
  expect([...slicesAround(pane!, keys(8, 9), slices)]).toEqual([[0, 1]]);
  // The pair is in different steps of t, so that another dimension is held.
  expect([...slicesAround(pane!, keys(5, 13), slices)]).toEqual([[1, 1]]);
  // One that differs in all dimensions is in no slice.
  expect(slicesAround(pane!, keys(0, 15), slices)).toBe(slices);
});

test('what is drawn of many iterations is told', () => {
  expect(partsDrawn(deep())).toEqual(['S0: drawn are 16 of 1\u202f234\u202f567 iterations: only t up to 1.']);
  expect(partsDrawn(read())).toEqual([]);
});

test('neighbouring tiles differ', () => {
  const model = read();
  const [original] = model.variants;
  const member = (row: string, time: number, role: string) => ({ rows: new Map([['S0', row]]), coincident: false, reductionParallel: false, role, time, address: row });
  const tree = { ...original!.tree, members: [member('floor(i/2)', 0, 'tile'), member('floor(j/2)', 1, 'tile')], children: [] };
  // Tiles are counted in their size.
  const times = new Map([['S0', model.statements[0]!.points.map(([i = 0, j = 0]) => [i - (i % 2), j - (j % 2), i, j])]]);
  const variant: Variant = { ...original!, tree, times };
  const [pane] = panesOf(model, variant, 'source');
  expect(tilesOf(variant, pane!, model).map(tile => [tile.marks.length, tile.isOdd])).toEqual([[4, false], [2, true], [2, true], [1, false]]);
});

test('long rows get a short name on their axis', () => {
  const model = read();
  const rows = new Map([['S0', '2t + i'], ['S1', '2t + i + 1']]);
  const member = { rows, coincident: false, reductionParallel: false, role: 'loop', time: 0, address: 'i' };
  const variant: Variant = { ...model.variants[0]!, tree: { ...model.variants[0]!.tree, members: [member], children: [] } };
  const [pane] = panesOf(model, variant, 'schedule');
  expect(pane!.axes[0]).toMatchObject({ label: 'i', meaning: 'S0: 2t + i; S1: 2t + i + 1' });
});

test('a loop tells the decision behind its row, else the last that is about it', () => {
  const about = (step: string, text: string) => ({ step, text, statements: ['S0'] });
  const decisions = [about('row', 'Row 1, S0: i, carries dependences.'), about('row', 'Row 2, S0: i + 1, is parallel.'), about('band', 'A band.'), about('loop', 'Loop i.')];
  const variant = { ...read().variants[0]!, decisions };
  const [outer, inner] = loopsOf(variant);
  expect(decisionOf(variant, outer!)).toBe('Row 1, S0: i, carries dependences.');
  expect(decisionOf(variant, inner!)).toBe('A band.');
});
