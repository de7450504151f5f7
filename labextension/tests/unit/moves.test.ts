import { expect, test } from 'vitest';

import { movesOf, takeMoves } from '../../src/core/moves';

const edit = (...texts: readonly string[]): object => ({ steps: texts.map(text => ({ text })), undone: 1, script: 'schedule("isl")\n' + texts[0] });

test('the moves of a view are those that were made, those undone among them, or those that are still missing', () => {
  expect(movesOf({ text: 'loops', edit: edit('a()', 'b()') })).toEqual({ text: 'loops', schedules: [], script: 'schedule("isl")\na()\nb()', undone: 1 });
  expect(movesOf({ text: 'loops', edit: null, lost: { script: 'schedule("isl")\nc()', problem: 'no' } })).toEqual({ text: 'loops', schedules: [], script: 'schedule("isl")\nc()', undone: 0 });
  const variants = [{ name: 'original' }, { name: 'isl' }, { name: 'by hand' }];
  expect(movesOf({ text: 'loops', edit: null, lost: null, variants }).schedules).toEqual(['original', 'isl', 'by hand']);
  expect(movesOf({ text: 'loops', edit: { ...edit('a()'), variant: 'by hand' }, variants }).schedules).toEqual(['original', 'isl']);
});

test('moves go to the same loops, or to what a changed cell shows now, and only once', () => {
  const moves = ['first', 'second'].map(text => ({ text, schedules: ['isl'], script: '', undone: 0 }));
  expect(takeMoves(moves, 'second')).toMatchObject({ text: 'second', schedules: ['isl'] });
  expect(takeMoves(moves, 'changed')).toMatchObject({ text: 'first', schedules: [] });
  expect(takeMoves(moves, 'first')).toBeNull();
});
