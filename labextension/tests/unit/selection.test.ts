import { expect, test } from 'vitest';

import { lightOf, NOTHING, type Light, type Selection } from '../../src/core/selection';
import { readModel } from '../../src/core/read';
import { loopsOf, whyOf } from '../../src/core/loops';
import { sample } from './sample';

const reading = readModel(sample());
if (!('model' in reading)) {
  throw new Error(reading.problem);
}
const { model } = reading;
const variant = model.variants[0]!;
const light = (selection: Selection): Light => lightOf(model, variant, selection);

test('nothing lights nothing', () => {
  expect(light(NOTHING).isEmpty).toBe(true);
});

test('an iteration lights its partners, its loops, its line and the dependence', () => {
  const found = light({ what: 'instance', statement: 0, instance: 4 });
  expect([...found.instances].sort()).toEqual(['0/2', '0/4', '0/6']);
  expect(found.loops.size).toBe(2);
  expect([...found.lines]).toEqual([4]);
  expect([...found.relations]).toEqual([0]);
  expect(found.sentence).toBe('S0[1, 1]: A[i, j] = A[i - 1, j + 1], runs at i = 1, j = 1. Dependences: 1 in, 1 out.');
});

test('where only some pairs are drawn, the number of dependences at an iteration is no claim about all', () => {
  const part = { ...model, relations: model.relations.map(one => ({ ...one, count: 40 })) };
  const { sentence } = lightOf(part, variant, { what: 'instance', statement: 0, instance: 4 });
  expect(sentence).toMatch(/Of the dependences drawn: 1 in, 1 out\.$/);
});

test('a condition that is too long to read gives way to the distances', () => {
  const relation = `S0[i, j] → S0[i + 1, j - 1] when ${'0 <= i < n, '.repeat(20)}`;
  const said = (distances: readonly string[]): string => {
    const long = { ...model, relations: model.relations.map(one => ({ ...one, relation, distances })) };
    return lightOf(long, variant, { what: 'relation', relation: 0 }).sentence;
  };
  expect(said(['(1, -1)'])).toBe('The flow dependence through A, S0 → S0. Distance (1, -1). Carried by loop i.');
  expect(said([])).toContain(relation);
});

test('a loop lights what it carries, its for line, and says why it is not parallel', () => {
  const [outer, inner] = loopsOf(variant);
  const found = light({ what: 'loop', loop: outer!.id });
  expect([...found.relations]).toEqual([0]);
  expect([...found.lines].sort()).toEqual([2, 4]);
  expect(found.sentence).toBe('Loop i is not parallel: S0[0, 1] before S0[1, 0].');
  expect(light({ what: 'loop', loop: inner!.id }).sentence).toBe('Loop j is parallel: no dependence ties its iterations.');
});

test('another schedule carries the same dependence elsewhere', () => {
  const other = model.variants[1]!;
  const [outer, inner] = loopsOf(other);
  const found = lightOf(model, other, { what: 'relation', relation: 0 });
  expect([...found.loops]).toEqual([inner!.id]);
  expect(found.loops.has(outer!.id)).toBe(false);
  expect(found.sentence).toContain('Carried by loop i.');
});

test('the line of a loop lights the loop and its statements', () => {
  const found = light({ what: 'line', line: 3 });
  expect([...found.loops]).toEqual([loopsOf(variant)[1]!.id]);
  expect([...found.whole]).toEqual([0]);
});

test('a line outside of the loops says so', () => {
  expect(light({ what: 'line', line: 1 }).sentence).toBe('Line 1 is outside of the loops.');
});

test('a violation lights both instances', () => {
  const violation = { kind: 'flow', array: 'A', source: 'S0', sourceInstance: [0, 1], sink: 'S0', sinkInstance: [1, 0], explanation: 'iteration i=1 is too early' };
  expect([...light({ what: 'violation', violation }).instances]).toEqual(['0/1', '0/3']);
  expect(light({ what: 'violation', violation }).sentence).toBe('Iteration i=1 is too early');
});

test('what no longer exists lights nothing', () => {
  expect(light({ what: 'instance', statement: 5, instance: 0 }).isEmpty).toBe(true);
  expect(light({ what: 'relation', relation: 9 }).isEmpty).toBe(true);
});

test('two reads of one cell order nothing: they make no loop serial and light only when they are shown', () => {
  const input = { kind: 'input', array: 'A', source: 'S0', sink: 'S0', distances: ['(0, 1)'], relation: 'S0[i, j] → S0[i, j + 1]', count: 1, pairs: [[4, 5]] };
  const plain = sample();
  const [original] = plain['variants'] as Record<string, unknown>[];
  const carried = [[0], [1]];
  const reread = readModel({ ...plain, relations: [...(plain['relations'] as unknown[]), input], variants: [{ ...original, carried }] });
  if (!('model' in reread)) {
    throw new Error(reread.problem);
  }
  const [own] = reread.model.variants;
  const [, inner] = loopsOf(own!);
  const at = { what: 'instance', statement: 0, instance: 4 } as const;
  expect(lightOf(reread.model, own!, { what: 'loop', loop: inner!.id }).sentence).toBe('Loop j is parallel: no dependence ties its iterations.');
  expect([...lightOf(reread.model, own!, at).relations]).toEqual([0]);
  expect([...lightOf(reread.model, own!, at, new Set()).relations]).toEqual([0, 1]);
  expect(lightOf(reread.model, own!, { what: 'relation', relation: 1 }).sentence).toMatch(/Two reads may come in any order\.$/);
});

test('private variables are no obstacle, and an old view has its flags for sentences', () => {
  const [outer, inner] = loopsOf(variant);
  const free = { ...outer!, member: { ...outer!.member, coincident: true } };
  expect(whyOf(model, { ...variant, loops: [] }, free)).toBe(
    'Loop i is parallel. Every iteration gets A for itself: what seems to tie them goes through private copies.'
  );
  expect(whyOf(model, { ...variant, loops: [] }, inner!)).toBe('Loop j is parallel.');
});
