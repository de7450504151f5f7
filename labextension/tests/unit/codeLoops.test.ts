import { expect, test } from 'vitest';

import { codeLoops } from '../../src/core/codeLoops';
import type { Model, Variant } from '../../src/core/model';
import { readModel } from '../../src/core/read';
import { lightOf } from '../../src/core/selection';
import { sample } from './sample';

function read(text: string, lines: Record<string, string>): { readonly model: Model; readonly variant: Variant } {
  const [first, ...others] = sample()['variants'] as Record<string, unknown>[];
  const reading = readModel({ ...sample(), variants: [{ ...first, program: { target: 'python', text, lines, notes: [] } }, ...others] });
  if ('problem' in reading) {
    throw new Error(reading.problem);
  }
  return { model: reading.model, variant: reading.model.variants[0]! };
}

const loopsOfText = (text: string, lines: Record<string, string>): unknown => {
  const { variant } = read(text, lines);
  return [...codeLoops(variant.program!, variant)].map(([line, { loop, statements }]) => [line, loop, statements]);
};

test('each for line is the loop at its depth', () => {
  const text = 'def f():\n    for i in a:\n        for j in b:\n            A[i, j] = 0\n\n    return\n';
  expect(loopsOfText(text, { '4': 'S0' })).toEqual([
    [2, '0.0:0', ['S0']],
    [3, '0.0:1', ['S0']]
  ]);
});

test('a line of a program with other loops than the tree only knows its statements', () => {
  expect(loopsOfText('for j in b:\n    A[0, j] = 0\n', { '2': 'S0' })).toEqual([[1, '', ['S0']]]);
  const twice = 'for i in a:\n    for j in b:\n        A[i, j] = 0\n    for j in c:\n        A[i, j] = 0\n';
  expect(loopsOfText(twice, { '3': 'S0', '5': 'S0' })).toEqual([
    [1, '', ['S0']],
    [2, '', ['S0']],
    [4, '', ['S0']]
  ]);
});

test('a line that one statement does not tell is the loop that another one inside it tells', () => {
  const base = sample();
  const [first] = base['variants'] as Record<string, unknown>[];
  const statement = (base['statements'] as Record<string, unknown>[])[0]!;
  const tree = JSON.parse(JSON.stringify(first!['tree']).replaceAll('"S0":"i"', '"S0":"i","S1":"i"').replaceAll('"statements":["S0"]', '"statements":["S0","S1"]')) as unknown;
  const program = { target: 'python', text: 'for i in a:\n    B[i] = 0\n    for j in b:\n        A[i, j] = 0\n', lines: { '2': 'S1', '4': 'S0' }, notes: [] };
  const reading = readModel({ ...base, statements: [statement, { ...statement, name: 'S1' }], variants: [{ ...first, tree, program }] });
  if ('problem' in reading) {
    throw new Error(reading.problem);
  }
  const variant = reading.model.variants[0]!;
  expect([...codeLoops(variant.program!, variant)].map(([line, { loop }]) => [line, loop])).toEqual([
    [1, '0.0:0'],
    [3, '0.0:1']
  ]);
});

test('a for line of the source lights the dependences that its loop carries', () => {
  const { model, variant } = read('', {});
  const light = lightOf(model, variant, { what: 'line', line: 2 });
  expect([...light.loops]).toEqual(['0.0:0']);
  expect([...light.relations]).toEqual([0]);
  expect([...lightOf(model, variant, { what: 'line', line: 3 }).relations]).toEqual([]);
  expect([...lightOf(model, variant, { what: 'statements', statements: [0] }).whole]).toEqual([0]);
});
