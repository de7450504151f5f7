import { afterEach, expect, test } from 'vitest';

import { blockPicture } from '../../src/core/blockPicture';
import { deviceOf, unfolded } from '../../src/core/device';
import { Inspector, PAGE } from '../../src/core/inspector';
import type { Question } from '../../src/core/state';
import { sample, unfold } from './sample';

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
  expect(deviceOf({ kernels: 3, pictures: 'x' })).toEqual({ target: '', run: null, places: { steps: [], at: new Map() }, blocks: null, kernels: [], shared: [], pictures: [] });
});

test('a card tells the shape, the barriers, where arrays live and how memory is met', () => {
  drawn(model(DEVICE));
  const text = unfold('Blocks and threads').textContent!;
  expect(text).toContain('Blocks in the grid: (n + 3) // 4, each of 4 × 2 threads.');
  expect(text).toContain('kernel 0, j: blocks along x in tiles of 4.');
  expect(text).toContain('Barrier: the tile of A is copied');
  expect(text).toContain('shared4\u00a0×\u00a04128 Bread 4 times');
  expect(text).toContain('contiguous, moves by\u00a0(0,\u00a01)2');
});

test('a pick shows everything that the thread does, and the arrow keys go on', () => {
  drawn(model(DEVICE));
  const part = unfold('Blocks and threads');
  const said = (): string => part.querySelector('.polyviz-thread-sentence')!.textContent!;
  expect(said()).toBe('Thread (0, 0, 0) of block (0, 0, 0) runs S0[0, 0] and nothing else here. Its block, outlined, has 8 of the 16 iterations drawn.');
  const picture = part.querySelector('svg.polyviz-pickable')!;
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) {
    picture.dispatchEvent(new KeyboardEvent('keydown', { key }));
  }
  expect(said()).toBe('Thread (0, 1, 0) of block (0, 0, 0) runs S0[1, 0] and nothing else here. Its block, outlined, has 8 of the 16 iterations drawn.');
});

test('a hundred blocks stand apart: neighbours have other colours and lines between them, and one is outlined', () => {
  const runs = Array.from({ length: 40 }, (_, i) => Array.from({ length: 10 }, (_, block) => [i, 4 * block, block, Math.floor(i / 4), 0, 0, i % 4, 0, 1, 0, 0, 4])).flat();
  drawn(model({ ...DEVICE, pictures: [{ ...PICTURE, block: [4, 4, 1], runs }] }));
  const part = unfold('Blocks and threads');
  expect(part.textContent).toContain('100 blocks, with lines between them; neighbours have different colours');
  const dots = [...part.querySelectorAll('.polyviz-thread-dot')];
  const colourAt = (i: number, j: number): string => {
    const at = `M${26 + (j + 0.5) * 8} ${16 + (i + 0.5) * 8}h0`;
    return dots.find(one => one.getAttribute('d')!.includes(at))!.getAttribute('class')!;
  };
  for (const [i, j] of [[0, 0], [4, 4], [36, 20]] as const) {
    expect(colourAt(i, j)).not.toBe(colourAt(i, j + 4));
    expect(colourAt(i, j)).not.toBe(colourAt(i < 36 ? i + 4 : i - 4, j));
  }
  const sides = (name: string): number => part.querySelector(`.polyviz-thread-${name}`)!.getAttribute('d')!.split('M').length - 1;
  expect(sides('border')).toBe(100 * 16);
  expect(sides('outline')).toBe(16);
});

test('a long grid has a line for each axis, and arrays in another order are named', () => {
  const long = 'max(0, (n + 3) // 4 if n >= 4 else (m + 31) // 32)';
  const card = { ...CARD, grid: [long, long, '1'], layouts: ['A is not in C order: one more of its subscripts is 1, 60 cells away'], launches: "launched again for every k of the host's loops", accesses: [{ ...CARD.accesses[0], piece: 8 }] };
  drawn(model({ ...DEVICE, kernels: [card] }));
  const text = unfold('Blocks and threads').textContent!;
  expect(text).toContain(`Blocks of 4 × 2 threads.Blocks along x: ${long}.Blocks along y: ${long}.`);
  expect(text).not.toContain('Blocks along z');
  expect(text).toContain('one more of its subscripts is 1, 60 cells away.');
  expect(text).toContain("Launched again for every k of the host's loops.");
  expect(text).toContain('contiguous in pieces of 8, moves by\u00a0(0,\u00a01)');
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

const COUNTED = {
  ...DEVICE,
  run: { text: 'n = 8: 1 launch, 2 barriers passed, 24 transactions', verified: true },
  kernels: [
    {
      ...CARD,
      accesses: [
        { ...CARD.accesses[0], counted: 1.5, requests: 16, lanes: 30.25, conflicts: 0, bytes: 2048 },
        { ...CARD.accesses[0], text: 'A_tile[i]', memory: 'shared', expected: null, requests: 8, lanes: 32, conflicts: 0.5, bytes: 1024 },
        { ...CARD.accesses[0], text: 'A[never]' }
      ]
    }
  ]
};

function live(value: unknown, asked: Question[], canRun: boolean): [Inspector, HTMLDetailsElement] {
  const inspector = new Inspector(value, { host: { ask: question => void asked.push(question) }, schedulers: [], canRun });
  document.body.append(inspector.root);
  return [inspector, [...document.querySelectorAll('details')].find(one => one.textContent?.startsWith('Blocks and threads'))!];
}

test('the kernels are run in the emulator from their card, and that can be cancelled', () => {
  const asked: Question[] = [];
  const [inspector, part] = live(model(DEVICE), asked, true);
  unfold('Blocks and threads');
  const press = (label: string): void => [...part.querySelectorAll('button')].find(one => one.textContent === label)!.click();
  press('Cancel');
  expect(asked).toEqual([]);
  press('Run in the emulator');
  expect(asked).toEqual([{ ask: 'emulate', variant: 'original' }]);
  expect(part.textContent).toContain('running original in the emulator');
  inspector.report('running original in the emulator (3 s)');
  expect(part.textContent).toContain('(3 s)');
  press('Run in the emulator');
  press('Cancel');
  expect(asked.slice(1)).toEqual([{ ask: 'cancel' }]);
});

test('what was counted stands beside what the strides let expect', () => {
  drawn(model(COUNTED));
  const part = unfold('Blocks and threads');
  expect(part.textContent).toContain('✓ Counted in the emulator: n = 8: 1 launch, 2 barriers passed, 24 transactions.');
  const rows = [...part.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td')].slice(5).map(cell => cell.textContent));
  expect(rows).toContainEqual(['2', '1.50', '16', '30.3', '2 KiB']);
  expect(rows).toContainEqual(['', '0.50 bank conflicts', '8', '32.0', '1 KiB']);
  expect(rows).toContainEqual(['2', 'did not run', '', '', '']);
  expect(part.textContent).not.toContain('Run in the emulator');
});

test('without arguments it says what is missing', () => {
  const [, part] = live(model(DEVICE), [], false);
  unfold('Blocks and threads');
  expect(part.textContent).toContain('Inspect the loops with arguments');
  expect(part.querySelector('button')).toBeNull();
});

test('a new static page is told to whoever keeps the output', () => {
  const [inspector] = live(model(DEVICE), [], true);
  const kept: unknown[] = [];
  document.body.addEventListener(PAGE, event => kept.push((event as CustomEvent).detail));
  inspector.keepPage('<p>counted</p>', 'counted', undefined);
  expect(kept).toEqual([{ html: '<p>counted</p>', text: 'counted' }]);
});

test.each([
  [[32, 4], 32, 4],
  [[256], 32, 8],
  [[1024], 32, 32],
  [[100], 32, 4]
])('%j threads of a block stand in %i columns and %i rows', (threads, columns, rows) => {
  const squares = [...blockPicture(threads, ['n', '1', '1']).querySelectorAll('.polyviz-thread')];
  const places = (axis: string): number => new Set(squares.map(one => one.getAttribute(axis))).size;
  expect([places('x'), places('y')]).toEqual([columns, rows]);
  expect(Number(squares[0]!.getAttribute('height'))).toBeGreaterThan(2);
});

test.each([
  [['(n + 3) // 4', '1', '1'], 4, 1, 'blocks …'],
  [['1', '(n + 3) // 4', '1'], 1, 3, 'blocks …'],
  [['n', 'm', '1'], 4, 3, 'blocks …'],
  [['1', '1', '1'], 1, 1, 'one block'],
  [['2', '2', '1'], 2, 2, 'blocks'],
  [['9', '1', '1'], 4, 1, 'blocks …']
])('a grid of %j blocks is drawn as %i by %i', (grid, columns, rows, title) => {
  const picture = blockPicture([32], grid);
  const squares = [...picture.querySelectorAll('.polyviz-block')];
  const places = (axis: string): number => new Set(squares.map(one => one.getAttribute(axis))).size;
  expect([places('x'), places('y'), squares.length]).toEqual([columns, rows, columns * rows]);
  expect(picture.querySelector('text')?.textContent).toBe(title);
});
