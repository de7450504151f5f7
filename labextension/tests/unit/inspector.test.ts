import { afterEach, expect, test } from 'vitest';

import { Inspector } from '../../src/core/inspector';
import type { Question } from '../../src/core/state';
import { sample } from './sample';

const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

function draw(value: unknown, asked: Question[] | null = null): Inspector {
  const live = asked === null ? null : { host: { ask: (question: Question) => asked.push(question) }, schedulers: ['isl'], canRun: true };
  const view = new Inspector(value, live);
  document.body.append(view.root);
  return view;
}

function find(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) {
    throw new Error(`nothing matches ${selector}`);
  }
  return found;
}

const all = (selector: string): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(selector)];
const sentence = (): string => find('.polyviz-sentence').textContent ?? '';

afterEach(() => document.body.replaceChildren());

/** The same model with markup in place of every text. */
function poisoned(value: unknown): unknown {
  if (typeof value === 'string') {
    return HOSTILE;
  }
  if (Array.isArray(value)) {
    return value.map(poisoned);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, key === 'kind' && item === 'inspector' ? item : poisoned(item)]))
    : value;
}

test('a point lights its line, its loops, its dependence and its program', () => {
  draw(sample());
  all('.polyviz-point')[4]!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(all('[aria-label="Source of sweep"] [aria-selected=true]')).toHaveLength(1);
  expect(all('[role=treeitem][aria-selected=true]')).toHaveLength(2);
  expect(all('[aria-label="Dependences"] tr[aria-selected=true]')).toHaveLength(1);
  expect(all('[aria-label^="Generated"] [aria-selected=true]')).toHaveLength(1);
  expect(all('.polyviz-point.polyviz-lit')).toHaveLength(3);
});

test('a saved view has no moves, a live one asks for them', () => {
  draw(sample());
  expect(all('button').some(one => one.textContent === 'Moves…')).toBe(false);
  document.body.replaceChildren();
  const asked: Question[] = [];
  draw(sample(), asked);
  find('[aria-label="Moves at i"]').click();
  expect(asked).toEqual([{ ask: 'choices', variant: 'original', address: 'i' }]);
});

test('the menu makes legal moves and explains the others', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  const violation = { kind: 'flow', array: 'A', source: 'S0', source_instance: [0, 1], sink: 'S0', sink_instance: [1, 0], explanation: 'S0[0, 1] must come first' };
  view.offer('i', [
    { move: 'skew', label: 'Skew', at: 'j', arguments: { by: 'i' }, legal: true, effect: '', reason: '' },
    { move: 'reversal', label: 'Reverse', at: 'i', arguments: {}, legal: false, effect: '', reason: 'it would change the result', violation }
  ]);
  const [legal, illegal] = all('.polyviz-move');
  illegal!.click();
  expect(asked).toEqual([]);
  expect(all('.polyviz-ring')).toHaveLength(2);
  expect(sentence()).toBe('S0[0, 1] must come first');
  expect(find('.polyviz-reason').textContent).toBe('Reverse: it would change the result');
  legal!.click();
  expect(asked).toEqual([{ ask: 'apply', variant: 'original', at: 'j', move: 'skew', arguments: { by: 'i' } }]);
  expect(find('.polyviz-busy').textContent).toContain('Skew');
  view.answered('The move is not possible any more.');
  expect(find('.polyviz-problem').textContent).toContain('not possible any more');
});

test('a hidden kind takes its arrows and its rows away', () => {
  draw(sample());
  const box = all('.polyviz-filter input[type=checkbox]')[0] as HTMLInputElement;
  box.checked = false;
  box.dispatchEvent(new Event('change'));
  expect(all('.polyviz-arrow.polyviz-flow.polyviz-hidden').length).toBe(4);
  expect(all('table[aria-label="Dependences"] tbody tr').every(row => row.hidden)).toBe(true);
});

test('steps light one iteration after the other', () => {
  draw(sample());
  find('[aria-label="One step forward"]').click();
  find('[aria-label="One step forward"]').click();
  expect(all('.polyviz-now')).toHaveLength(1);
  expect(all('.polyviz-past')).toHaveLength(1);
});

test('the keyboard moves between points and between lines', () => {
  draw(sample());
  const picture = find('svg.polyviz-picture');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp', 'Enter']) {
    picture.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }
  expect(sentence()).toMatch(/^S0\[1, 1\]/);
  const [first, second] = all('[aria-label="Source of sweep"] [role=option]');
  first!.focus();
  first!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  expect(document.activeElement).toBe(second);
});

test('markup in any text is shown as text', () => {
  const view = draw({ ...(poisoned(sample()) as object), v: 1 }, []);
  view.answered(HOSTILE);
  view.offer(HOSTILE, poisoned([{ move: 'a', label: 'b', at: 'c', reason: 'd', legal: false }]));
  expect(all('img, script')).toEqual([]);
  expect((window as unknown as { hacked?: number }).hacked).toBeUndefined();
  expect(document.body.textContent).toContain(HOSTILE);
});

test('a newer or damaged model shows a card, and a good one after it the views', () => {
  const view = draw({ v: 7, kind: 'inspector' });
  expect(find('.polyviz-card').textContent).toMatch(/newer polyviz/);
  view.show(sample());
  expect(all('.polyviz-card')).toEqual([]);
  expect(all('.polyviz-point')).toHaveLength(9);
});

test('a new model of the same loops keeps the schedule that is shown', () => {
  const view = draw(sample(), []);
  view.choose('skewed');
  view.show({ ...sample(), name: 'renamed' });
  expect((find('input[aria-label="Schedule skewed"]') as HTMLInputElement).checked).toBe(true);
  expect(find('.polyviz-name').textContent).toBe('renamed');
});

test('an iteration stays selected when other sizes are drawn', () => {
  const view = draw(sample(), []);
  all('.polyviz-point')[4]!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(sentence()).toMatch(/^S0\[1, 1\]/);
  const model = sample();
  const [statement] = model['statements'] as { points: number[][] }[];
  statement!.points = statement!.points.filter(([i]) => i! > 0);
  view.show(model);
  expect(sentence()).toMatch(/^S0\[1, 1\]/);
});

test('every control has a name', () => {
  draw(sample(), []);
  for (const control of all('button, input, select')) {
    const name = control.getAttribute('aria-label') ?? control.closest('label')?.textContent ?? control.textContent;
    expect(name?.trim()).not.toBe('');
  }
});
