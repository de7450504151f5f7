import { expect, test } from 'vitest';

import { aligned, alignedRows } from '../../src/core/align';

const same = (left: string, right: string): number => Number(left === right);
const alike = (left: string, right: string): number => (left === right ? 2 : Number(left[0] === right[0]));

test('what is the same stands in one row, what changed beside what it replaces', () => {
  expect(aligned(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
    { left: 0, right: 0, isSame: true },
    { left: 1, right: 1, isSame: false },
    { left: 2, right: 2, isSame: true },
    { left: null, right: 3, isSame: false }
  ]);
});

test('loops over tiles stand in rows of their own', () => {
  const rows = alignedRows([['i', 'j'], ['i_tile', 'j_tile', 'i', 'j'], ['j', 'i']], same);
  expect(rows).toEqual([
    [null, 0, null],
    [null, 1, null],
    [0, 2, null],
    [1, 3, 0],
    [null, null, 1]
  ]);
});

test('nothing and something', () => {
  expect(alignedRows([[], ['a']], same)).toEqual([[null, 0]]);
  expect(aligned([], [])).toEqual([]);
});

test('what is alike stands beside each other, and the same is preferred', () => {
  expect(alignedRows([['a', 'b'], ['a2', 'b']], alike)).toEqual([
    [0, 0],
    [1, 1]
  ]);
  expect(alignedRows([['a', 'b'], ['a2', 'a', 'b2']], alike)).toEqual([
    [null, 0],
    [0, 1],
    [1, 2]
  ]);
});
