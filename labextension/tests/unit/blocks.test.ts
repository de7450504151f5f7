import { afterEach, expect, test } from 'vitest';

import { Inspector } from '../../src/core/inspector';
import type { Question } from '../../src/core/state';
import { sample } from './sample';

/** Three by three iterations in blocks of two by two, one thread for each iteration of a block. */
const PLACES = [0, 1, 2].flatMap(i => [0, 1, 2].map(j => [i, j] as const));
const BLOCKS = {
  blocks: [[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0]],
  threads: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
  at: { S0: PLACES.map(([i, j]) => [2 * (j >> 1) + (i >> 1), (j & 1) + 2 * (i & 1)]) },
  notes: ['Kernel 0: a block spans 2 × 2 (x × y) and has 2 × 2 threads.']
};

function model(blocks: unknown): Record<string, unknown> {
  const found = sample();
  const device = { target: 'emulated', kernels: [], shared: [], pictures: [], blocks };
  return { ...found, variants: (found['variants'] as Record<string, unknown>[]).map(one => ({ ...one, device })) };
}

function draw(value: unknown, asked: Question[] | null = null): Inspector {
  const live = asked === null ? null : { host: { ask: (question: Question) => void asked.push(question) }, schedulers: [], canRun: false };
  const view = new Inspector(value, live);
  document.body.append(view.root);
  return view;
}

const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(`[aria-label=Domain] ${selector}`)];
const choose = (label: string): void => all(`input[aria-label="${label}"]`)[0]!.click();

afterEach(() => document.body.replaceChildren());

test('blocks get outlines, names and colours, threads strengths, and the key and the notes tell so', () => {
  draw(model(BLOCKS));
  expect(all('.polyviz-run')).toHaveLength(0);
  choose('Colours: blocks and threads');
  expect(all('svg.polyviz-picture polygon.polyviz-run')).toHaveLength(4);
  expect(all('.polyviz-block-name').map(one => one.textContent)).toContain('block (0, 0)');
  const [first, second, , below] = all('.polyviz-point[data-key]');
  expect(first!.getAttribute('class')).toContain('polyviz-block-0 polyviz-strength-0');
  expect(second!.getAttribute('class')).toContain('polyviz-block-0 polyviz-strength-1');
  expect(below!.getAttribute('class')).toContain('polyviz-block-0 polyviz-strength-2');
  expect(all('.polyviz-thread-name').map(one => one.textContent).slice(0, 4)).toEqual(['0,0', '1,0', '0,0', '0,1']);
  const text = document.querySelector('[aria-label=Domain]')!.textContent!;
  expect(text).toContain('a block spans 2 × 2');
  expect(text).toContain('threads beside each other');
});

test('a picked iteration rings what its thread runs, and words say who it is', () => {
  draw(model({ ...BLOCKS, at: { S0: PLACES.map(([i, j]) => [0, (j & 1) + 2 * (i & 1)]) } }));
  choose('Colours: blocks and threads');
  const [first] = all('.polyviz-point[data-key]');
  first!.dispatchEvent(new MouseEvent('pointerover', { bubbles: true }));
  expect(all('.polyviz-caption')[0]!.textContent).toBe('S0[0, 0]: thread (0, 0) of block (0, 0) of kernel 0');
  first!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(all('.polyviz-point.polyviz-same[data-key]').map(one => one.dataset['key'] ?? one.getAttribute('data-key'))).toEqual(['0/0', '0/2', '0/6', '0/8']);
});

test('a kernel is asked once for each order, and a saved view without blocks offers none', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  choose('Colours: blocks and threads');
  expect(asked).toEqual([{ ask: 'device', variant: 'original' }]);
  view.show({ ...sample(), notes: ['anew'] });
  expect(asked).toHaveLength(1);
  const edit = { variant: 'original', start: 'original', steps: [], undone: 0, script: 'reversal(at="i")', python: '' };
  view.show({ ...sample(), edit });
  expect(asked).toHaveLength(2);
  document.body.replaceChildren();
  draw(sample());
  expect(all('input[aria-label="Colours: tiles"]')).toHaveLength(0);
});

test('what no rule covers is told instead of drawn', () => {
  draw(model(null), []);
  choose('Colours: blocks and threads');
  expect(document.querySelector('[aria-label=Domain]')!.textContent).toContain('not known for all of them');
});
