import { expect, test } from 'vitest';

import { aligned, alignedRows } from '../../src/core/align';

test('what is the same stands in one row, what changed beside what it replaces', () => {
  expect(aligned(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
    { left: 0, right: 0, isSame: true },
    { left: 1, right: 1, isSame: false },
    { left: 2, right: 2, isSame: true },
    { left: null, right: 3, isSame: false }
  ]);
});

test('loops over tiles stand in rows of their own', () => {
  const rows = alignedRows([['i', 'j'], ['i_tile', 'j_tile', 'i', 'j'], ['j', 'i']]);
  expect(rows).toEqual([
    [null, 0, null],
    [null, 1, null],
    [0, 2, null],
    [1, 3, 0],
    [null, null, 1]
  ]);
});

test('nothing and something', () => {
  expect(alignedRows([[], ['a']])).toEqual([[null, 0]]);
  expect(aligned([], [])).toEqual([]);
});
