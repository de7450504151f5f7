import { expect, test } from 'vitest';

import { movesOf, takeMoves } from '../../src/core/moves';

const edit = (...texts: readonly string[]): object => ({ steps: texts.map(text => ({ text })), undone: 1, script: 'schedule("isl")\n' + texts[0] });

test('the moves of a view are those that were made, those undone among them, or those that are still missing', () => {
  expect(movesOf({ text: 'loops', edit: edit('a()', 'b()') })).toEqual({ text: 'loops', script: 'schedule("isl")\na()\nb()', undone: 1 });
  expect(movesOf({ text: 'loops', edit: null, lost: { script: 'schedule("isl")\nc()', problem: 'no' } })).toEqual({ text: 'loops', script: 'schedule("isl")\nc()', undone: 0 });
  expect(movesOf({ text: 'loops', edit: null, lost: null })).toBeNull();
});

test('moves go to the same loops, or to what a changed cell shows now, and only once', () => {
  const moves = ['first', 'second'].map(text => ({ text, script: '', undone: 0 }));
  expect(takeMoves(moves, 'second')?.text).toBe('second');
  expect(takeMoves(moves, 'changed')?.text).toBe('first');
  expect(takeMoves(moves, 'first')).toBeNull();
});
