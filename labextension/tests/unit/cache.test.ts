import { expect, test } from 'vitest';

import { bytesText, isThere, simulate, totalsOf, usualCache, type CacheShape } from '../../src/core/cache';
import { addressesOf, byteOf, regionsOf, unknownAccesses } from '../../src/core/memory';
import { drawnMemory, linePaths } from '../../src/core/memoryPicture';
import type { Model } from '../../src/core/model';
import { momentsOf } from '../../src/core/order';
import { readModel } from '../../src/core/read';
import { sample } from './sample';

/** One statement in a loop that touches the elements `order` of an array, one after the other. */
function touching(order: readonly number[], kind = 'read'): Model {
  const value = sample();
  const [statement] = value['statements'] as Record<string, unknown>[];
  const [variant] = value['variants'] as Record<string, unknown>[];
  const points = order.map((element, time) => [time, element]);
  const reading = readModel({
    ...value,
    arrays: [{ name: 'A', extents: [64], element_bytes: 8 }],
    statements: [{ ...statement, points, accesses: [{ array: 'A', kind, text: 'A[j]', subscripts: [[0, 1, 0]] }] }],
    variants: [{ ...variant, times: { S0: points } }]
  });
  if ('problem' in reading) {
    throw new Error(reading.problem);
  }
  return reading.model;
}

function outcomes(order: readonly number[], cache: CacheShape): readonly string[] {
  const model = touching(order);
  return simulate(model, momentsOf(model, model.variants[0]!, false), cache).touches.map(touch => touch.outcome);
}

const DIRECT: CacheShape = { bytes: 64, line: 16, ways: 1 };

test('neighbours on a line hit, and a first touch always misses', () => {
  expect(outcomes([0, 1, 2, 3, 0], DIRECT)).toEqual(['first', 'hit', 'first', 'hit', 'hit']);
});

test('lines of one set drive each other out of a direct mapped cache, and stay in one with two ways', () => {
  const order = [0, 8, 0, 8];
  expect(outcomes(order, DIRECT)).toEqual(['first', 'first', 'again', 'again']);
  expect(outcomes(order, { ...DIRECT, ways: 2 })).toEqual(['first', 'first', 'hit', 'hit']);
});

test('the line that was used longest ago makes room', () => {
  const order = [0, 2, 4, 6, 0, 8, 0, 2];
  expect(outcomes(order, { ...DIRECT, ways: 0 })).toEqual(['first', 'first', 'first', 'first', 'hit', 'first', 'hit', 'again']);
});

test('the state of the cache is known at every step', () => {
  const model = touching([0, 8, 0]);
  const run = simulate(model, momentsOf(model, model.variants[0]!, false), DIRECT);
  expect(run.ends).toEqual([1, 2, 3]);
  expect([0, 1, 2, 3].map(touches => isThere(run, 0, touches))).toEqual([false, true, false, true]);
  expect([0, 1, 2, 3].map(touches => isThere(run, 4, touches))).toEqual([false, false, true, false]);
});

test('what is written goes back to memory once, when it leaves or in the end', () => {
  const model = touching([0, 1, 8, 9], 'write');
  const totals = totalsOf(model, model.variants[0]!, DIRECT);
  expect(totals).toMatchObject({ accesses: 4, hits: 2, first: 2, again: 0, bytes: 4 * 16, instances: 4, steps: 4 });
});

test('rows of an array lie one after the other, arrays behind each other', () => {
  const reading = readModel({
    ...sample(),
    arrays: [
      { name: 'A', extents: [3, 5], element_bytes: 4 },
      { name: 'B', extents: [2], element_bytes: 8 }
    ]
  });
  const { model } = reading as { model: Model };
  const regions = regionsOf(model);
  expect(regions.map(region => [region.base, region.bytes])).toEqual([
    [0, 60],
    [256, 16]
  ]);
  const [[read, write] = []] = addressesOf(model, regions);
  expect(byteOf(write!, [2, 1])).toBe((2 * 5 + 1) * 4);
  expect(byteOf(read!, [2, 1])).toBe((1 * 5 + 2) * 4);
});

test('accesses that are no functions of the loops are named', () => {
  const value = sample();
  const [statement] = value['statements'] as Record<string, unknown>[];
  const accesses = [{ array: 'A', kind: 'read', text: 'A[B[i]]', subscripts: null }];
  const reading = readModel({ ...value, statements: [{ ...statement, accesses }] });
  expect(unknownAccesses((reading as { model: Model }).model, false)).toEqual(['A[B[i]]']);
});

test('what data decide about is told apart from what is not known', () => {
  const value = sample();
  const [statement] = value['statements'] as Record<string, unknown>[];
  const accesses = [{ array: 'A', kind: 'read', text: 'A[i, j]', subscripts: null, conditional: true }];
  const { model } = readModel({ ...value, statements: [{ ...statement, accesses }] }) as { model: Model };
  expect([unknownAccesses(model, false), unknownAccesses(model, true)]).toEqual([[], ['A[i, j]']]);
});

test('a line that goes on in the next row is drawn in two pieces', () => {
  const reading = readModel({ ...sample(), arrays: [{ name: 'A', extents: [2, 3], element_bytes: 8 }] });
  const sheet = drawnMemory((reading as { model: Model }).model)!;
  const paths = linePaths(sheet, 16);
  expect([...paths.keys()]).toEqual([0, 1, 2]);
  expect([...paths.values()].map(path => path.split('M').length - 1)).toEqual([1, 2, 1]);
});

test('arrays too large for a picture have none, and those without extents are no problem', () => {
  const large = readModel({ ...sample(), arrays: [{ name: 'A', extents: [100000, 100000], element_bytes: 8 }] });
  expect(drawnMemory((large as { model: Model }).model)).toBeNull();
  const unknown = readModel({ ...sample(), arrays: [{ name: 'A', extents: null, element_bytes: 8 }] });
  expect(drawnMemory((unknown as { model: Model }).model)).toBeNull();
  expect(usualCache((unknown as { model: Model }).model).bytes).toBe(128);
});

test('bytes for people', () => {
  expect([64, 1024, 1536, 1 << 20].map(bytesText)).toEqual(['64 B', '1 KiB', '1.5 KiB', '1 MiB']);
});
