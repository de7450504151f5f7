import { afterEach, expect, test } from 'vitest';

import { deviceOf, unfolded } from '../../src/core/device';
import { Inspector } from '../../src/core/inspector';
import type { Question } from '../../src/core/state';
import { sample } from './sample';

const CARD = {
  name: 'kernel_f_0',
  statements: ['S0'],
  grid: ['(n + 3) // 4', '1', '1'],
  block: [4, 2, 1],
  threads: ['x: j'],
  phases: [],
  barriers: ['the tile of A is copied'],
  promotions: [{ array: 'A', place: 'shared', extents: [4, 4], bytes: 128, reason: 'read 4 times' }],
  accesses: [{ statement: 'S0', line: 4, text: 'A[i, j]', mode: 'read', memory: 'global', kind: 'contiguous', strides: [0, 1], expected: 2, counted: null, requests: 0, lanes: null, conflicts: 0 }]
};
/** Two rows of eight iterations: four threads along x, two blocks. */
const RUNS = [0, 1].flatMap(i => [0, 1].map(block => [i, 4 * block, block, 0, 0, 0, i, 0, 1, 0, 0, 4]));
const PICTURE = { title: 'S0[i, j] in kernel 0', kernel: 0, statement: 'S0', iterators: ['i', 'j'], block: [4, 2, 1], rules: ['thread x: j % 4'], runs: RUNS, note: '' };
const DEVICE = { target: 'emulated', kernels: [CARD], shared: ['kernel 0, j: blocks along x in tiles of 4'], pictures: [PICTURE] };

function model(device: unknown): Record<string, unknown> {
  const found = sample();
  return { ...found, variants: (found['variants'] as Record<string, unknown>[]).map(one => ({ ...one, device })) };
}

function drawn(value: unknown, asked: Question[] | null = null): HTMLDetailsElement {
  const live = asked === null ? null : { host: { ask: (question: Question) => void asked.push(question) }, schedulers: [], canRun: false };
  document.body.append(new Inspector(value, live).root);
  return [...document.querySelectorAll('details')].find(one => one.textContent?.startsWith('Blocks and threads'))!;
}

afterEach(() => document.body.replaceChildren());

test('runs unfold to iterations with their block and thread', () => {
  const [, second, , , fifth] = unfolded(RUNS, 2);
  expect(second).toEqual({ iteration: [0, 1], block: [0, 0, 0], thread: [1, 0, 0] });
  expect(fifth).toEqual({ iteration: [0, 4], block: [1, 0, 0], thread: [0, 0, 0] });
});

test('runs of a wrong length and without an end are not drawn', () => {
  expect(unfolded([[1, 2, 3]], 2)).toEqual([]);
  expect(unfolded([[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1e12]], 2)).toHaveLength(20_000);
  expect(deviceOf({ kernels: 3, pictures: 'x' })).toEqual({ target: '', kernels: [], shared: [], pictures: [] });
});

test('a card tells the shape, the barriers, where arrays live and how memory is met', () => {
  const text = drawn(model(DEVICE)).textContent!;
  expect(text).toContain('Grid of (n + 3) // 4 blocks, each of 4 × 2 threads.');
  expect(text).toContain('kernel 0, j: blocks along x in tiles of 4.');
  expect(text).toContain('Barrier: the tile of A is copied');
  expect(text).toContain('shared4 × 4128 Bread 4 times');
  expect(text).toContain('contiguous, moves by (0, 1)2');
});

test('a pick shows everything that the thread does, and the arrow keys go on', () => {
  const part = drawn(model(DEVICE));
  const said = (): string => part.querySelector('.polyviz-thread-sentence')!.textContent!;
  expect(said()).toBe('Thread (0, 0, 0) of block (0, 0, 0) runs S0[0, 0] and nothing else here.');
  const picture = part.querySelector('svg.polyviz-pickable')!;
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) {
    picture.dispatchEvent(new KeyboardEvent('keydown', { key }));
  }
  expect(said()).toBe('Thread (0, 1, 0) of block (0, 0, 0) runs S0[1, 0] and nothing else here.');
});

test('a kernel process is asked once for each schedule, when somebody looks', () => {
  const asked: Question[] = [];
  const part = drawn(sample(), asked);
  expect(asked).toEqual([]);
  part.open = true;
  part.dispatchEvent(new Event('toggle'));
  part.dispatchEvent(new Event('toggle'));
  expect(asked).toEqual([{ ask: 'device', variant: 'original' }]);
});

test('a saved view without kernels has no such part', () => {
  expect(drawn(sample()).hidden).toBe(true);
  document.body.replaceChildren();
  expect(drawn(model(DEVICE)).hidden).toBe(false);
});
