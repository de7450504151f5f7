import { afterEach, expect, test, vi } from 'vitest';

import { carryOver } from '../../src/core/carryOver';
import { Inspector, REPLAY } from '../../src/core/inspector';
import { SELECTED, type Question } from '../../src/core/state';
import { summary } from '../../src/core/summary';
import { pageOf } from '../../src/core/values';
import { sample, unfold } from './sample';

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

test('moves of a kernel that is gone are asked for again, and what comes of it is said', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  view.root.dispatchEvent(new CustomEvent(REPLAY, { detail: { script: 'schedule("original")', undone: 1 } }));
  expect(asked.at(-1)).toEqual({ ask: 'replay', script: 'schedule("original")', undone: 1 });
  view.answered('', 'Made again.');
  expect(find('.polyviz-status').textContent).toContain('Made again.');
  view.show({ ...sample(), lost: { script: 'fly(at="i")', problem: 'Line 1: nobody can.' } });
  expect(find('[aria-label="Script of the moves before"]').textContent).toBe('fly(at="i")');
  expect(find('.polyviz-reason').textContent).toMatch(/could not be made again\. Line 1: nobody can\./);
  expect(find('[aria-label="Script of the moves before"]').closest('details')?.open).toBe(true);
});

test('a saved view begins with the schedule that was made by hand', () => {
  const plain = sample();
  const [original] = plain['variants'] as Record<string, unknown>[];
  const edit = { variant: 'by hand', start: 'original', steps: [{ text: 'reversal(at="i")', decision: '' }], undone: 0, script: '', python: '' };
  draw({ ...plain, variants: [original, { ...original, name: 'by hand' }], edit });
  expect(find('input[aria-label="Schedule by hand"]').matches(':checked')).toBe(true);
});

test('a dependence whose pairs lie in other slices brings one of them into the picture', () => {
  const points = Array.from({ length: 16 }, (_, number) => [3, 2, 1, 0].map(bit => (number >> bit) & 1));
  const plain = sample();
  const [statement] = plain['statements'] as Record<string, unknown>[];
  const [original] = plain['variants'] as Record<string, unknown>[];
  const [relation] = plain['relations'] as Record<string, unknown>[];
  draw({
    ...plain,
    statements: [{ ...statement, iterators: ['t', 'i', 'j', 'k'], points, total: 16 }],
    relations: [{ ...relation, distances: ['(1, 0, 0, 1)'], count: 1, pairs: [[6, 15]] }],
    variants: [{ ...original, times: { S0: points } }]
  });
  expect(all('.polyviz-point.polyviz-lit')).toHaveLength(0);
  find('[aria-label=Dependences] tbody tr').click();
  expect(all('.polyviz-point.polyviz-lit')).toHaveLength(2);
});

test('the size of the arguments stands beside a smaller one that is drawn', () => {
  const shown = (given: unknown): string => {
    document.body.replaceChildren();
    draw({ ...sample(), parameters: [{ name: 'n', source: 'argument n', value: 3, low: 1, high: 24, given }] });
    return all('fieldset').find(one => one.textContent!.startsWith('Sizes drawn'))!.textContent!;
  };
  expect(shown(1000)).toBe('Sizes drawnn = 3 (1\u202f000 as given)');
  expect(shown(3)).toBe('Sizes drawnn = 3');
  expect(shown(undefined)).toBe('Sizes drawnn = 3');
});

test('what takes the place of a drawing shows the same schedule and is unfolded as that was', () => {
  const before = draw(sample()).root;
  find('input[aria-label="Schedule skewed"]').click();
  unfold('Why?');
  const after = new Inspector(sample()).root;
  document.body.append(after);
  carryOver(before, after);
  before.remove();
  expect(find('input[aria-label="Schedule skewed"]')).toHaveProperty('checked', true);
  expect(find('[role=tree]').getAttribute('aria-label')).toBe('Schedule tree of skewed');
  expect(all('details[open] > summary').map(one => one.textContent)).toEqual(['Why?']);
});

test('unfolding the reasons asks for them once, and again for another schedule', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  expect(all('.polyviz-why')).toEqual([]);
  unfold('Why?');
  expect(asked).toEqual([{ ask: 'why', variant: 'original' }]);
  view.answered('The kernel could not.');
  expect(asked).toHaveLength(1);
  find('input[aria-label="Schedule skewed"]').click();
  expect(asked.at(-1)).toEqual({ ask: 'why', variant: 'skewed' });
});

test('reasons stand below their loop and statement, and those of a selected loop come first', () => {
  const plain = sample();
  const [original, skewed] = plain['variants'] as Record<string, unknown>[];
  const pair = (original!['loops'] as Record<string, unknown>[])[0]!['violation'];
  const reasons = [
    { topic: 'tiles', address: 'i', statements: ['S0'], text: 'i and j make no tiles.', violation: pair },
    { topic: 'tiles', address: 'j', statements: ['S0'], text: 'i and j make no tiles.', violation: pair },
    { topic: 'vectors', address: '', statements: ['S0'], text: `${HOSTILE} in vectors.`, violation: null }
  ];
  draw({ ...plain, variants: [{ ...original, reasons }, skewed] });
  const why = unfold('Why?');
  expect(why.textContent!.match(/make no tiles/g)).toHaveLength(1);
  expect(why.textContent).toContain('Vectors <img src=x');
  all('.polyviz-why button').find(one => one.textContent === 'j')!.click();
  expect(why.textContent).toMatch(/^Why\?What is selectedj Loop j is parallel.*Tiles i and j make no tiles/);
  all('.polyviz-why button').find(one => one.textContent === 'Show the pair')!.click();
  expect(sentence()).toBe('S0[0, 1] before S0[1, 0]');
});

test('a saved view has no moves, a live one asks for them', () => {
  draw(sample());
  expect(all('button').some(one => one.textContent === 'Moves…')).toBe(false);
  document.body.replaceChildren();
  const asked: Question[] = [];
  draw(sample(), asked);
  find('[aria-label="Moves at i"]').click();
  expect(asked).toEqual([{ ask: 'choices', variant: 'original', address: 'i', number: 1 }]);
});

test('the menu makes legal moves and explains the others', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  const violation = { kind: 'flow', array: 'A', source: 'S0', source_instance: [0, 1], sink: 'S0', sink_instance: [1, 0], explanation: 'S0[0, 1] must come first' };
  find('[aria-label="Moves at i"]').click();
  asked.length = 0;
  view.offer(1, [
    { move: 'skew', label: 'Skew', at: 'j', arguments: { by: 'i' }, legal: true, effect: '', reason: '' },
    { move: 'reversal', label: 'Reverse', at: 'i', arguments: {}, legal: false, effect: '', reason: 'it would change the result', violation }
  ], true);
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

test('a move takes other numbers than those that are offered', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  find('[aria-label="Moves at i"]').click();
  const offer = { at: 'i', legal: true, effect: '', reason: '' };
  view.offer(1, [
    { ...offer, move: 'tile', label: 'Tile by 32 × 32', arguments: { sizes: [32, 32] } },
    { ...offer, move: 'tile', label: 'Tile by 4 × 4', arguments: { sizes: [4, 4] } },
    { ...offer, move: 'unroll', label: 'Unroll by 4', arguments: { factor: 4 } },
    { ...offer, move: 'parallel', label: 'Parallel', arguments: {} }
  ], true);
  asked.length = 0;
  const fields = all('.polyviz-numbers') as HTMLInputElement[];
  expect(fields.map(one => one.value)).toEqual(['32,32', '4']);
  const enter = (place: number, value: string): void => {
    fields[place]!.value = value;
    fields[place]!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  };
  enter(0, '16 x 128');
  enter(1, '8');
  enter(1, 'many');
  expect(asked.map(one => 'arguments' in one && one.arguments)).toEqual([{ sizes: [16, 128] }, { factor: 8 }]);
});

test('the pair that forbade a move is gone with the order that it was about', () => {
  const plain = sample();
  const view = draw(plain, []);
  const violation = { kind: 'flow', array: 'A', source: 'S0', source_instance: [0, 1], sink: 'S0', sink_instance: [1, 0], explanation: 'S0[0, 1] must come first' };
  find('[aria-label="Moves at i"]').click();
  view.offer(1, [{ move: 'reversal', label: 'Reverse', at: 'i', arguments: {}, legal: false, effect: '', reason: 'no', violation }], true);
  find('.polyviz-move').click();
  view.show({ ...plain, comparison: null }, 'original');
  expect(all('.polyviz-ring')).toHaveLength(2);
  // Only the functions of the loops differ.
  const [original] = plain['variants'] as Record<string, unknown>[];
  const tree = JSON.parse(JSON.stringify(original!['tree']).replace('{"S0":"j"}', '{"S0":"i + j"}')) as unknown;
  view.show({ ...plain, variants: [original, { ...original, name: 'by hand', tree }] }, 'by hand');
  expect(all('.polyviz-ring')).toHaveLength(0);
  expect(sentence()).toMatch(/^Pick an iteration/);
});

test('an empty line is read out with the number that is seen', () => {
  const plain = sample();
  draw({ ...plain, text: `\n${plain['text'] as string}` });
  expect(all('[aria-label=Source] [role=option]').map(one => one.getAttribute('aria-label')).slice(0, 2)).toEqual(['empty line 1', null]);
});

test('a loop that could be parallel but runs in order says both, in its tree and side by side', () => {
  const plain = sample();
  const [original, skewed] = plain['variants'] as Record<string, unknown>[];
  const loops = [{ text: 'Loop i + j is parallel.', parallel: true, violation: null }, { text: 'Loop i is parallel.', parallel: true, violation: null }];
  draw({ ...plain, variants: [{ ...skewed, loops }, original] });
  const badges = (): unknown => all('[role=treeitem] > .polyviz-node').map(one => [...one.querySelectorAll('.polyviz-badge')].map(badge => badge.textContent).join(', '));
  expect(badges()).toEqual(['', 'parallel, band of 2', 'in order, could be parallel']);
  expect(unfold('Side by side').querySelector('tbody')!.textContent).toContain('in order could be parallel');
  find('input[aria-label="Schedule original"]').click();
  expect(badges()).toEqual(['', 'in order, band of 2', 'parallel']);
});

test('the menu is there at once, and moves are added as they are found', () => {
  const view = draw(sample(), []);
  find('[aria-label="Moves at i"]').click();
  const menu = find('.polyviz-menu');
  expect(document.activeElement).toBe(menu);
  expect(menu.textContent).toContain('Looking for moves');
  const legal = { move: 'unroll', label: 'Unroll', at: 'i', arguments: {}, legal: true, effect: '', reason: '' };
  view.offer(1, [legal], false);
  const unroll = find('.polyviz-move');
  unroll.focus();
  view.offer(1, [{ ...legal, move: 'parallel', label: 'Parallel', legal: false, reason: 'no' }], false);
  view.offer(1, [], true);
  expect(document.activeElement).toBe(unroll);
  expect(all('.polyviz-move').map(one => one.firstChild?.textContent)).toEqual(['Unroll', 'Parallel']);
  expect(menu.textContent).not.toContain('Looking for moves');
});

test('names and legality are there first, and what a move would change is put behind its name when it is known', () => {
  const view = draw(sample(), []);
  find('[aria-label="Moves at i"]').click();
  const legal = { place: 0, move: 'unroll', label: 'Unroll', at: 'i', arguments: {}, legal: true, effect: null, reason: '' };
  view.offer(1, [legal, { ...legal, place: 1, label: 'Parallel', legal: false, effect: '', reason: 'no' }], false);
  const unroll = find('.polyviz-move');
  unroll.focus();
  expect(unroll.textContent).toBe('Unroll …');
  expect(find('.polyviz-menu').textContent).toContain('Looking for moves');
  view.offer(1, [{ ...legal, effect: 'loops: 2 → 3' }], false);
  expect(find('.polyviz-menu').textContent).toContain('Working out what the moves would change');
  view.offer(1, [], true);
  expect(document.activeElement).toBe(unroll);
  expect(all('.polyviz-move')).toHaveLength(2);
  expect(unroll.textContent).toContain('Unroll loops: 2 → 3');
});

/** The same loops and order, with more known of them, as answers bring it that come late. */
function withMore(): Record<string, unknown> {
  const plain = sample();
  const [original, ...others] = plain['variants'] as Record<string, unknown>[];
  return { ...plain, notes: ['late'], variants: [{ ...original, reasons: [] }, ...others] };
}

test('a menu stays open, and keeps the focus, when more is known of the same order', () => {
  const asked: Question[] = [];
  const view = draw(sample(), asked);
  find('[aria-label="Moves at i"]').click();
  const { number } = asked.at(-1) as { number: number };
  const move = { move: 'reversal', at: 'i', arguments: {}, label: 'Reversal', legal: true, effect: '', reason: '', violation: null, after: null, place: 0 };
  view.offer(number, [move], false);
  find('.polyviz-move').focus();
  view.show(withMore());
  expect(document.activeElement).toBe(find('.polyviz-move'));
  view.offer(number, [{ ...move, place: 1, label: 'Scale' }], true);
  expect(all('.polyviz-move')).toHaveLength(2);
  find('input[aria-label="Schedule skewed"]').click();
  expect(all('.polyviz-menu')).toHaveLength(0);
});

test('a menu of other sizes is closed: what it tells was counted for those before', () => {
  const view = draw(sample(), []);
  find('[aria-label="Moves at i"]').click();
  view.show({ ...sample(), parameters: [{ name: 'n', source: 'argument n', value: 4, low: 1, high: 24 }] });
  expect(all('.polyviz-menu')).toHaveLength(0);
});

test('lines, loops and dependences keep the focus when more is known of the same order', () => {
  const view = draw(sample(), []);
  for (const selector of ['[aria-label^=Generated] [role=option]:last-child', '[aria-label^=Source] [role=option]:last-child', '[role=treeitem] [role=treeitem]', '[aria-label=Dependences] tbody tr']) {
    find(selector).focus();
    view.show(withMore());
    expect(document.activeElement).toBe(find(selector));
  }
});

test('a minus is not parted from its number at the end of a line', () => {
  const plain = sample();
  const [original] = plain['variants'] as Record<string, unknown>[];
  const program = { ...(original!['program'] as object), text: 'for i_reversed in x:\n    L[-i_reversed] = a - b\n' };
  draw({ ...plain, variants: [{ ...original, program }] });
  const line = all('[aria-label^=Generated] code')[1]!;
  expect(line.textContent).toBe('    L[-i_reversed] = a - b');
  expect([...line.querySelectorAll('.polyviz-whole')].map(one => one.textContent)).toEqual(['-i_reversed']);
});

test('a menu takes no moves of one that was closed before it', () => {
  const view = draw(sample(), []);
  const open = find('[aria-label="Moves at i"]');
  open.click();
  find('.polyviz-menu button').focus();
  find('.polyviz-menu button').click();
  expect(document.activeElement).toBe(open);
  const offer = { move: 'unroll', label: 'Unroll', at: 'i', arguments: {}, legal: true, effect: '', reason: '' };
  view.offer(1, [offer], false);
  expect(all('.polyviz-menu')).toHaveLength(0);
  open.click();
  view.offer(1, [offer], true);
  expect(all('.polyviz-move')).toHaveLength(0);
  view.offer(2, [offer], true);
  expect(all('.polyviz-move')).toHaveLength(1);
});

test('the arrow keys pass rows that a filter took away', () => {
  const value = sample();
  const [flow] = value['relations'] as Record<string, unknown>[];
  draw({ ...value, relations: [flow, { ...flow, kind: 'anti' }, { ...flow, array: 'B' }] });
  const [, anti] = all('.polyviz-filter input[type=checkbox]') as HTMLInputElement[];
  anti!.click();
  const rows = all('table[aria-label="Dependences"] tbody tr');
  rows[0]!.focus();
  rows[0]!.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  expect(document.activeElement).toBe(rows[2]);
});

test('a hidden kind takes its arrows and its rows away', () => {
  draw(sample());
  const seen = ':not(.polyviz-hidden) > .polyviz-arrows:not(.polyviz-hidden) > .polyviz-arrow.polyviz-flow';
  expect(find(seen).getAttribute('d')!.match(/M/g)).toHaveLength(4);
  const box = all('.polyviz-filter input[type=checkbox]')[0] as HTMLInputElement;
  box.checked = false;
  box.dispatchEvent(new Event('change'));
  expect(all(seen)).toEqual([]);
  expect(all('table[aria-label="Dependences"] tbody tr').every(row => row.hidden)).toBe(true);
});

test('at a picked iteration its own arrows are lit, and the others step back', () => {
  draw(sample());
  const arrows = (look: string): number => all(`.polyviz-arrows${look} > .polyviz-arrow`).reduce((sum, one) => sum + one.getAttribute('d')!.match(/M/g)!.length, 0);
  expect([arrows('.polyviz-lit'), arrows('.polyviz-dim'), all('.polyviz-arrows').length]).toEqual([0, 0, 1]);
  all('.polyviz-point')[4]!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect([arrows('.polyviz-lit'), arrows('.polyviz-dim')]).toEqual([2, 4]);
  find('[aria-label="Dependences"] tbody tr').click();
  expect([arrows('.polyviz-lit'), arrows('.polyviz-dim'), all('.polyviz-arrows').length]).toEqual([4, 0, 1]);
});

test('arrows between statements wait until something at one of their ends is picked', () => {
  const value = sample();
  const [statement] = value['statements'] as Record<string, unknown>[];
  const [relation] = value['relations'] as Record<string, unknown>[];
  const [variant, ...others] = value['variants'] as Record<string, unknown>[];
  const times = variant!['times'] as Record<string, unknown>;
  draw({ ...value, statements: [statement, { ...statement, name: 'S1' }], relations: [{ ...relation, sink: 'S1' }], variants: [{ ...variant, times: { ...times, S1: times['S0'] } }, ...others] });
  expect(all('.polyviz-arrow.polyviz-flow').filter(one => one.closest('.polyviz-arrows') !== null)).toEqual([]);
  find('[aria-label="Dependences"] tbody tr').click();
  expect(all('.polyviz-arrows.polyviz-lit')).toHaveLength(1);
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
  draw({ ...(poisoned(sample()) as object), v: 1 }, []).answered(HOSTILE);
  const view = draw(sample(), []);
  find('[aria-label="Moves at i"]').click();
  view.offer(1, poisoned([{ move: 'a', label: 'b', at: 'c', reason: 'd', legal: false }]), true);
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

test('a new model of the same loops shows the schedule that it came for, and keeps that', () => {
  const view = draw(sample(), []);
  view.show(sample(), 'skewed');
  expect((find('input[aria-label="Schedule skewed"]') as HTMLInputElement).checked).toBe(true);
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

test('legal moves say what they would cost', () => {
  const view = draw(sample(), []);
  const [original, skewed] = sample()['variants'] as Record<string, unknown>[];
  const legal = { move: 'skew', at: 'j', arguments: {}, legal: true, effect: '', reason: '' };
  find('[aria-label="Moves at i"]').click();
  view.offer(1, [
    { ...legal, label: 'Skew', after: { tree: {}, times: skewed!['times'] } },
    { ...legal, label: 'Nothing', after: { tree: original!['tree'], times: original!['times'] } }
  ], true);
  const [skew, nothing] = all('.polyviz-move');
  expect(skew!.textContent).toContain('▲ 3 → 9 steps');
  expect(nothing!.textContent).toContain('same steps and bytes');
  expect(find('.polyviz-menu').textContent).toMatch(/For the sizes drawn now 3 steps for 9 iterations .* 224 B moved through a cache of 128 B/);
});

test('the cache shows lines, says what the step does, and totals for every schedule', () => {
  draw(sample());
  expect(all('path.polyviz-cacheline')).toHaveLength(3);
  find('[aria-label="One step forward"]').click();
  expect(find('.polyviz-cache-step').textContent).toMatch(/^A\[i - 1, j \+ 1\] of S0\[0, 0\]: miss, first touch; A\[i, j\] of S0\[0, 0\]: miss, first touch\. So far 0 hits, 2 misses\.$/);
  expect(all('path.polyviz-cacheline.polyviz-first')).toHaveLength(1);
  expect(all('[aria-label=Cache] tbody tr').map(row => row.querySelector('th')?.textContent)).toEqual(['original', 'skewed']);
  const size = find('[aria-label="Cache associativity"]') as HTMLSelectElement;
  size.value = '1';
  size.dispatchEvent(new Event('change'));
  expect(find('[aria-label=Cache] ul').textContent).toContain('direct mapped');
});

test('what was decided for the compiled program stands below the program for reading', () => {
  const plain = sample();
  const [original] = plain['variants'] as Record<string, unknown>[];
  const view = draw(plain);
  const code = (): string => find('[aria-label^=Generated]').closest('section')?.textContent ?? '';
  expect(code()).toContain('This is the order of the schedule, for reading.');
  expect(code()).toContain('may tile, move and vectorise');
  const mapping = { target: 'c', decisions: [{ step: 'strip', text: 'threads share strips of `i`', statements: [] }], text: 'int x;' };
  view.show({ ...plain, variants: [{ ...original, mapping }] });
  expect(code()).toContain('What was decided for it:strip threads share strips of iProgram for cint x;');
  view.show({ ...plain, variants: [{ ...original, mapping: { target: 'c', decisions: [] } }] });
  expect(code()).toContain('has the same loops');
});

test('schedules side by side: what differs, what it costs, and the difference of the programs', () => {
  const value = sample();
  const [original, skewed] = value['variants'] as Record<string, unknown>[];
  const program = { target: 'python', text: 'for k in x:\n    A[i, j] = 0\n', lines: {}, notes: [] };
  const row = { label: 'skewed/c', status: 'ok', verified: true, median: 0.002, interval: [0.001, 0.003], speedup: 2, note: '', is_baseline: false };
  draw({
    ...value,
    variants: [original, { ...skewed, program, mapping: { target: 'c', decisions: [{ step: 'tile', text: '', statements: [] }] } }],
    comparison: { rows: [row], baseline: '', best: '', verdict: '', machine: '', notes: [] }
  });
  const side = unfold('Side by side');
  expect(side.textContent).toContain('3 for 9 iterations');
  expect(side.textContent).toContain('2.00 ms 1.00 ms to 3.00 ms');
  expect(side.textContent).toContain('c: tile');
  expect(side.querySelector('.polyviz-verified-yes')?.textContent).toBe('✓ verified');
  expect([...side.querySelectorAll('.polyviz-difference .polyviz-line')].map(line => line.textContent)).toEqual([
    '−for i in x:',
    '+for k in x:',
    '     A[i, j] = 0'
  ]);
});

test('a superposed schedule shows both orders, a block and how threads move through memory', () => {
  const value = sample();
  const [original] = value['variants'] as Record<string, unknown>[];
  const dimension = (text: string, axis: string | null): unknown => ({ text, kind: 'loop', role: '', axis, tile: null, reduction: false });
  const group = { statements: ['S0'], loops: [{ axis: 'x', kind: 'forall', rows: { S0: 'j' } }], under: [], text: 'j along x' };
  const superposition = {
    functions: [{ statement: 'S0', outer: [dimension('floor(j/32)_x', 'x'), dimension('i', null)], regular: [dimension('i', null), dimension('j_x', 'x')], text: '' }],
    kernels: [{ number: 0, blocks: group, phases: [group], barriers: [], tiles: { x: 32 }, threads: { x: 48 } }],
    conditions: [{ name: 'order', asks: 'sources first', holds: true, witness: '' }]
  };
  draw({ ...value, variants: [{ ...original, superposition }] });
  const part = unfold('Blocks and threads');
  expect(part.hidden).toBe(false);
  expect(part.querySelectorAll('.polyviz-thread')).toHaveLength(48);
  expect(part.textContent).toContain('48 threads in a block, 2 warps, the last one with 16 of 32 threads at work');
  expect(part.textContent).toContain('the next element8 × 32 bytes, as few as can be');
  expect(part.querySelectorAll('.polyviz-badge-band').length).toBeGreaterThan(1);
});

test('the two orders of a superposed schedule stand side by side, and the loops that both have are marked', () => {
  const value = sample();
  const [original] = value['variants'] as Record<string, unknown>[];
  const scalar = (text: string): unknown => ({ text, kind: 'scalar', role: '', axis: null, tile: null, reduction: false });
  const loop = (text: string, axis: string | null = null): unknown => ({ text, kind: 'loop', role: '', axis, tile: null, reduction: false });
  const outer = [scalar('0'), loop('t'), scalar('0'), loop('floor(i/32)_x', 'x')];
  const superposition = {
    functions: [
      { statement: 'S0', outer, regular: [scalar('0'), loop('t'), scalar('0'), loop('i_x', 'x'), loop('k'), scalar('0')], text: '' },
      { statement: 'S1', outer, regular: [scalar('0'), loop('t'), scalar('1'), loop('j_x', 'x'), scalar('0')], text: '' }
    ],
    kernels: [],
    conditions: []
  };
  draw({ ...value, variants: [{ ...original, superposition }] });
  const part = unfold('Blocks and threads');
  const pair = part.querySelector('.polyviz-pair')!;
  expect([...pair.querySelectorAll('ul[aria-label]')].map(tree => tree.getAttribute('aria-label'))).toEqual(['Order of blocks', 'Order of threads']);
  const nodes = (title: string): (string | null)[] => [...pair.querySelectorAll(`ul[aria-label="${title}"] .polyviz-node`)].map(node => node.textContent);
  expect(nodes('Order of blocks')).toEqual(['loop t= in both', 'spread floor(i/32)along x', 'S0', 'S1']);
  expect(nodes('Order of threads')).toEqual(['loop t= in both', 'spread ialong x= in both', 'loop k', 'S0', 'spread jalong x', 'S1']);
});

test('very many points are painted and not made elements', () => {
  // There is nothing to paint on in jsdom.
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
  const value = sample();
  const [statement] = value['statements'] as Record<string, unknown>[];
  const points = Array.from({ length: 10000 }, (_, place) => [Math.floor(place / 100), place % 100]);
  const [variant] = value['variants'] as Record<string, unknown>[];
  draw({ ...value, statements: [{ ...statement, points }], variants: [{ ...variant, times: { S0: points } }], relations: [] });
  expect(all('.polyviz-point')).toHaveLength(0);
  expect(all('canvas.polyviz-cloud')).toHaveLength(1);
  const picture = find('[aria-label=Domain] svg.polyviz-picture');
  for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) {
    picture.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }
  expect(sentence()).toMatch(/^S0\[1, 0\]/);
});

test('dependences between reads wait until their box is ticked', () => {
  const input = { kind: 'input', array: 'A', source: 'S0', sink: 'S0', distances: ['(0, 1)'], relation: 'S0[i, j] → S0[i, j + 1]', count: 1, pairs: [[4, 5]] };
  const plain = sample();
  draw({ ...plain, relations: [...(plain['relations'] as unknown[]), input] });
  const rows = (): boolean[] => all('[aria-label="Dependences"] tbody tr').map(row => row.hidden);
  expect(rows()).toEqual([false, true]);
  const box = all('fieldset label').find(one => one.textContent === 'input')?.querySelector('input');
  box?.click();
  expect(rows()).toEqual([false, false]);
});

test('without a dependence there is no filter', () => {
  draw({ ...sample(), relations: [] });
  expect(all('legend').map(one => one.textContent)).not.toContain('Kinds');
});

test('trees side by side: every node in a row, what has no partner beside a dash', () => {
  draw(sample());
  const side = unfold('Side by side');
  const rows = [...side.querySelectorAll('tbody tr')].slice(0, 4).map(row => [...row.children].map(one => one.textContent!.trim()).join(' | '));
  expect(rows).toEqual(['loop | – | ≠ i + j parallel', 'loop | i in order | i in order', 'loop | j parallel | ≠ –', 'statement | S0 | S0']);
});

test('a kept model goes to whoever holds the views, and the picture stays as it is', () => {
  const view = draw(sample());
  const kept: unknown[] = [];
  view.root.addEventListener('polyviz-shown', event => kept.push((event as CustomEvent).detail));
  const before = view.root.innerHTML;
  const [first, ...others] = sample()['variants'] as Record<string, unknown>[];
  const model = { ...sample(), variants: [{ ...first, reasons: [] }, ...others] };
  view.keepPage('<p></p>', '', model);
  expect(kept).toEqual([model]);
  expect(view.root.innerHTML).toBe(before);
});

test('a static page is kept whole, or the one before stays', () => {
  const whole = `<p>${'x'.repeat(400_000)}</p>`;
  expect(pageOf(whole)).toBe(whole);
  expect(pageOf('x'.repeat(9_000_000))).toBe('');
  expect(pageOf(7)).toBe('');
  const view = draw(sample());
  const pages: unknown[] = [];
  view.root.addEventListener('polyviz-page', event => pages.push((event as CustomEvent).detail));
  view.keepPage('', '', undefined);
  view.keepPage('<p></p>', 'p', undefined);
  expect(pages).toEqual([{ html: '<p></p>', text: 'p' }]);
});

test('a pair stays picked while further reasons come, and not when the order is another one', () => {
  const view = draw(sample());
  unfold('Why?');
  all('button').find(one => one.textContent === 'Show the pair')!.click();
  const rings = all('.polyviz-ring').length;
  expect(rings).toBeGreaterThan(0);
  const [first, ...others] = sample()['variants'] as Record<string, unknown>[];
  view.show({ ...sample(), variants: [{ ...first, reasons: [] }, ...others] });
  expect(all('.polyviz-ring').length).toBe(rings);
  view.show({ ...sample(), variants: [{ ...first, tree: others[0]!['tree'] }, ...others] });
  expect(all('.polyviz-ring').length).toBe(0);
});

test('what cannot be drawn is said on a card', () => {
  const failing = vi.spyOn(document, 'createElementNS').mockImplementation(() => {
    throw new Error('no such point');
  });
  const told = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  draw(sample());
  failing.mockRestore();
  expect(find('.polyviz-card').textContent).toMatch(/damaged: its numbers do not fit together/);
  expect(told).toHaveBeenCalled();
  told.mockRestore();
});

test('keys are ours, but with Ctrl or Command those of JupyterLab', () => {
  draw(sample());
  const radio = find('input[type=radio]');
  const suppressed = (type: string, keys: KeyboardEventInit): boolean => {
    radio.dispatchEvent(new KeyboardEvent(type, { bubbles: true, ...keys }));
    return radio.hasAttribute('data-lm-suppress-shortcuts');
  };
  expect(suppressed('keydown', { key: 'ArrowRight' })).toBe(true);
  expect(suppressed('keydown', { key: 's', ctrlKey: true })).toBe(false);
  expect(suppressed('keydown', { key: 's', metaKey: true })).toBe(false);
  expect(suppressed('keyup', { key: 'Meta' })).toBe(true);
});

test('two widgets of a page load the core twice, and share no names', async () => {
  const names = [];
  for (let load = 0; load < 2; load += 1) {
    vi.resetModules();
    names.push((await import('../../src/core/dom')).freshId('variant'));
  }
  expect(names[0]).not.toBe(names[1]);
});

test('where only numbers are touched, nothing is said of arrays that are too large', () => {
  const model = sample();
  const statements = model.statements.map(one => ({ ...one, accesses: [] }));
  draw({ ...model, statements, arrays: [] });
  expect(find('[aria-label=Cache]').textContent).toContain('No access can be followed through a cache');
  expect(find('[aria-label=Cache]').textContent).not.toContain('too large');
});

test('where nothing runs, nothing is played and nothing is said of memory', () => {
  const model = sample();
  const statements = model.statements.map(one => ({ ...one, points: [], total: 0, accesses: one.accesses.map(access => ({ ...access, subscripts: null })) }));
  draw({ ...model, statements, arrays: [], relations: [], variants: model.variants.map(one => ({ ...one, times: {} })) });
  expect(find('[aria-label=Domain]').textContent).toContain('No instance to draw');
  expect(find('[aria-label="Execution order"]').hidden).toBe(true);
  expect(document.querySelector('[aria-label=Domain] button[aria-label^="Save"]')).toBeNull();
  expect(find('[aria-label=Cache]').textContent).toContain('No iteration runs for these values');
  expect(find('[aria-label=Cache]').textContent).not.toMatch(/too large|not known/);
});

test('what is pressed stays in the page while the kernel tells how far it is', () => {
  const view = draw(sample(), []);
  unfold('Side by side');
  const buttons = (): HTMLElement[] => all('button').filter(one => ['Verify and time', 'Time again', 'Cancel'].includes(one.textContent ?? ''));
  const before = buttons();
  expect(before).toHaveLength(4);
  view.report('timing (1 of 3)');
  expect(before.map(one => (one as HTMLButtonElement).disabled)).toEqual([true, false, true, false]);
  expect(find('[aria-label="Timing of the schedules"]').textContent).toContain('timing (1 of 3)');
  view.answered();
  expect(buttons()).toEqual(before);
  expect(before.every(one => one.isConnected)).toBe(true);
});

test('an answer that leaves the order as it is leaves the step, the point of the keys and the focus', () => {
  const view = draw(sample(), []);
  find('[aria-label="One step forward"]').click();
  find('[aria-label="One step forward"]').click();
  const picture = (): HTMLElement => find('[aria-label=Domain] svg.polyviz-picture');
  const press = (key: string): boolean => picture().dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  picture().focus();
  press('ArrowRight');
  press('ArrowRight');
  const here = find('.polyviz-cursor').getAttribute('data-key');
  const told = find('.polyviz-caption').textContent;
  const [first, ...rest] = sample()['variants'] as Record<string, unknown>[];
  view.show({ ...sample(), variants: [{ ...first, reasons: [] }, ...rest] });
  expect(all('.polyviz-now')).toHaveLength(1);
  expect(all('.polyviz-past')).toHaveLength(1);
  expect(document.activeElement).toBe(picture());
  expect(find('.polyviz-cursor').getAttribute('data-key')).toBe(here);
  expect(find('.polyviz-caption').textContent).toBe(told);
  view.show(sample(), 'skewed');
  expect(all('.polyviz-now')).toHaveLength(0);
});

test('further reasons leave the focus on the sentence that somebody reads', () => {
  const view = draw(sample(), []);
  const part = unfold('Why?');
  const shown = (): HTMLElement => part.querySelector<HTMLElement>('[aria-label^="Select the loop of"], [aria-label^="Show the pair of"]')!;
  const before = shown();
  before.focus();
  view.show({ ...sample(), name: 'renamed' });
  expect(before.isConnected).toBe(false);
  expect(document.activeElement).toBe(shown());
});

test('what is picked in the views lights in the summary beside them', () => {
  const beside = summary(sample());
  const view = draw(sample());
  document.body.append(beside);
  view.root.addEventListener(SELECTED, event => beside.dispatchEvent(new CustomEvent(SELECTED, { detail: (event as CustomEvent<unknown>).detail })));
  expect(beside.querySelectorAll('[aria-selected=true]')).toHaveLength(0);
  view.root.querySelectorAll('.polyviz-point')[4]!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(beside.querySelectorAll('[role=treeitem][aria-selected=true]')).toHaveLength(2);
  beside.dispatchEvent(new CustomEvent(SELECTED, { detail: { text: 'other loops', variant: 'original', selection: { what: 'nothing' } } }));
  expect(beside.querySelectorAll('[role=treeitem][aria-selected=true]')).toHaveLength(2);
});

test('a loop with a row of its own has the name that moves and reasons use beside it', () => {
  const plain = JSON.parse(JSON.stringify(sample())) as Record<string, unknown>;
  const text = JSON.stringify(plain).replace(/"rows":\{"(\w+)":"j"\}/g, '"rows":{"$1":"-j"}');
  draw(JSON.parse(text));
  const names = all('[role=treeitem] > .polyviz-node').map(one => [...one.querySelectorAll('code')].map(code => code.textContent));
  expect(names).toContainEqual(['j:', '-j']);
  expect(names).toContainEqual(['i']);
});
