import { expect, test } from 'vitest';

import { firstSlices, panesOf, tilesOf } from '../../src/core/clouds';
import { hull } from '../../src/core/geometry';
import { momentsOf } from '../../src/core/order';
import { readModel } from '../../src/core/read';
import { sample } from './sample';

const reading = readModel(sample());
if (!('model' in reading)) {
  throw new Error(reading.problem);
}
const { model } = reading;

test('every iteration has a step, in the order of the schedule', () => {
  const steps = momentsOf(model, model.variants[0]!, false);
  expect(steps.map(step => step[0]?.[1])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('parallel loops run at once', () => {
  expect(momentsOf(model, model.variants[0]!, true).map(step => step.length)).toEqual([3, 3, 3]);
  const skewed = momentsOf(model, model.variants[1]!, true);
  expect(skewed[0]!.map(([, instance]) => instance).sort()).toEqual([0, 1, 2]);
});

test('the scheduled space has the loops of the schedule as axes', () => {
  const [pane] = panesOf(model, model.variants[1], 'schedule');
  expect(pane!.axes.map(axis => axis.label)).toEqual(['i + j', 'i']);
  expect(pane!.axes[0]).toMatchObject({ low: 0, high: 4 });
  expect(tilesOf(model.variants[1]!, pane!, model)).toEqual([]);
});

test('at most three axes are drawn: the outer ones are held at a value that exists', () => {
  const marks = [0, 4, 8].map((value, instance) => ({ statement: 0, instance, place: [value, 0, 0, 0] }));
  const axes = ['a', 'b', 'c', 'd'].map((label, place) => ({ label, low: 0, high: place === 0 ? 8 : 1 }));
  const slices = firstSlices({ key: 'x', title: 'x', axes, marks, notes: [] });
  expect([...slices]).toEqual([[0, 4]]);
});

test('the hull has no collinear corners', () => {
  const square = [0, 1, 2].flatMap(x => [0, 1, 2].map(y => ({ x, y })));
  expect(hull(square)).toHaveLength(4);
  expect(hull([{ x: 0, y: 0 }])).toHaveLength(1);
});

test('a statement in two branches is parallel only where its own branch is', () => {
  const node = (extra: object): object => ({ kind: 'band', label: '', statements: ['S0'], members: [], permutable: false, time: -1, children: [], ...extra });
  const band = (coincident: boolean): object =>
    node({ members: [{ rows: { S0: 'i' }, coincident, reduction_parallel: false, role: 'loop', time: 1, address: '' }] });
  const branches = [true, false].map(coincident => node({ kind: 'filter', children: [band(coincident)] }));
  const [statement] = sample()['statements'] as object[];
  const [variant] = sample()['variants'] as object[];
  const points = [0, 1, 2, 3, 4, 5].map(i => [i, 0]);
  const times = points.map(([i]) => [i! < 3 ? 0 : 1, i!]);
  const reading = readModel({
    ...sample(),
    statements: [{ ...statement, points }],
    variants: [{ ...variant, tree: node({ kind: 'sequence', time: 0, children: branches }), times: { S0: times } }]
  });
  const model = (reading as { model: Model }).model;
  expect(momentsOf(model, model.variants[0]!, true).map(moment => moment.length)).toEqual([3, 1, 1, 1]);
});
