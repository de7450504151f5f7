import { expect, test } from 'vitest';

import { readChoices, readModel, valueOf } from '../../src/core/read';
import { sample } from './sample';

test('a whole model is read', () => {
  const reading = readModel(sample());
  expect('model' in reading && reading.model.statements[0]?.points.length).toBe(9);
});

test.each([
  [null, /no polyviz view/],
  ['text', /no polyviz view/],
  [{ v: '1' }, /no polyviz view/],
  [{ v: 2, kind: 'inspector' }, /newer polyviz .*format 2/],
  [{ v: 1, kind: 'scop' }, /kind “scop”/],
  [{ v: 1, kind: 'inspector', statements: 3 }, /damaged/],
  [{ unread: 'Unexpected end of input' }, /no JSON. Unexpected end/]
])('%j gives a sentence', (value, sentence) => {
  const reading = readModel(value);
  expect('problem' in reading && reading.problem).toMatch(sentence);
});

test.each([
  ['statements', (many: unknown) => [{ points: many }]],
  ['relations', (many: unknown) => [{ pairs: many }]],
  ['variants', (many: unknown) => [{ times: { S0: many } }]]
])('too many marks in %s are refused with a sentence, and not read', (part, holding) => {
  const refused = readModel({ ...sample(), [part]: holding(new Array(250_001)) });
  expect('problem' in refused && refused.problem).toMatch(/too large.*250001 iterations.*250000 are read.*save the view again/);
  expect('model' in readModel({ ...sample(), [part]: holding([[1, 2]]) })).toBe(true);
});

test('a document is read as JSON, and one that is too long is refused with a sentence before that', () => {
  expect(valueOf('{"v": 1}')).toEqual({ v: 1 });
  expect(valueOf({ v: 1 })).toEqual({ v: 1 });
  const damaged = readModel(valueOf('{"v": 1'));
  expect('problem' in damaged && damaged.problem).toMatch(/no JSON/);
  const refused = readModel(valueOf(' '.repeat(50_000_000)));
  expect('problem' in refused && refused.problem).toMatch(/too large to be read: it has 50.0 MB, and at most 40.0 MB/);
});

test('what has the wrong type becomes empty, never an exception', () => {
  const broken = { ...sample(), statements: [null, 7, { name: {}, iterators: ['i'], points: [['x'], [1, 2], [3]] }], relations: { a: 1 }, variants: [[]], comparison: 5 };
  const reading = readModel(broken);
  expect('model' in reading).toBe(true);
  if ('model' in reading) {
    expect(reading.model.statements[2]).toMatchObject({ name: '', points: [[0], [3]] });
    expect(reading.model.relations).toEqual([]);
  }
});

test('what would turn text around, or is too long, is not shown as it is', () => {
  const reading = readModel({ ...sample(), name: 'A\u202eB\u2066C\u0007', text: 'x'.repeat(1_000_000) });
  expect('model' in reading && reading.model.name).toBe('A\ufffdB\ufffdC\ufffd');
  expect('model' in reading && reading.model.text).toMatch(/^x{200000} … \(cut: 1000000 characters\)$/);
});

test('a tree without end is cut', () => {
  const deep: Record<string, unknown> = { kind: 'filter' };
  deep['children'] = [deep];
  const reading = readModel({ ...sample(), variants: [{ name: 'x', tree: deep }] });
  expect('model' in reading).toBe(true);
});

test('choices keep where a move is placed', () => {
  expect(readChoices([{ move: 'fuse', at: null, legal: true }, { move: 'tile', at: 'i' }])).toMatchObject([
    { at: null, legal: true },
    { at: 'i', legal: false }
  ]);
});
