/**
 * The schedules side by side: their trees aligned node by node and what differs marked, what they cost as predicted and
 * as measured, and their programs line by line. They are verified and timed from here.
 */

import { aligned, type Pair } from './align';
import { bytesText, cacheText, totalsOf } from './cache';
import { seconds } from './comparisonView';
import { element, keepingFocus, type Child } from './dom';
import { loopsOf } from './loops';
import type { ComparisonRow, Model, Variant } from './model';
import { renameTimer, timer } from './runner';
import type { State } from './state';
import { treeRows } from './treeTable';

/** More columns than these cannot be read beside each other. */
const MOST_COLUMNS = 4;

export function sideView(state: State): HTMLElement {
  const root = element('div', {});
  const chosen = new Chosen();
  const run = timer(state);
  const draw = (): void => {
    renameTimer(run, state);
    keepingFocus(root, () => root.replaceChildren(element('div', { class: 'polyviz-side' }, table(state)), ...codeDifference(state, chosen, draw)));
  };
  state.on(['model', 'variant', 'cache'], draw);
  draw();
  return element('div', {}, run?.root ?? null, root);
}

/** The two schedules whose programs are compared, by name; by default the first and the one that is shown. */
class Chosen {
  private left = '';
  private right = '';

  set(side: 'left' | 'right', name: string): void {
    this[side] = name;
  }

  pair(state: State): readonly [Variant, Variant] | null {
    const withCode = state.model.variants.filter(one => one.program !== null);
    const named = (name: string): Variant | undefined => withCode.find(one => one.name === name);
    const left = named(this.left) ?? withCode[0];
    const other = withCode.find(one => one !== left);
    const shown = state.variant !== left && state.variant?.program ? state.variant : other;
    const right = named(this.right) ?? shown;
    return left === undefined || right === undefined ? null : [left, right];
  }
}

function table(state: State): HTMLElement {
  const { model, cache } = state;
  const variants = model.variants.slice(0, MOST_COLUMNS);
  const totals = variants.map(one => totalsOf(model, one, cache));
  const names = variants.map(one => element('th', { scope: 'col' }, one.name));
  const left = model.variants.length - variants.length;
  const facts: readonly (readonly [string, readonly Child[], string])[] = [
    ['parallel loops', variants.map(parallelText), ''],
    ['steps in order', totals.map(one => `${one.steps} for ${one.instances} iterations`), 'when the iterations of parallel loops run at once'],
    ['cache misses', totals.map(one => `${one.first + one.again} of ${one.accesses}`), cacheText(cache)],
    ['bytes moved', totals.map(one => bytesText(one.bytes)), 'between this cache and memory, for the sizes drawn'],
    ['compiled program', variants.map(one => mappingText(state, one)), 'what was decided for it beyond the schedule above, which the other rows are about; in words below the generated code'],
    ['median time', variants.map(one => timeOf(model, one)), 'measured, with the 95 % interval'],
    ['result', variants.map(one => verdictOf(model, one)), 'compared with the loops as written'],
    ['lines of code', variants.map(one => (one.program === null ? '–' : String(linesOf(one).length))), '']
  ];
  const body = element(
    'tbody',
    {},
    ...treeRows(variants),
    ...facts.map(([name, texts, meaning]) => factRow(name, texts, meaning))
  );
  const head = element('tr', {}, element('th', { scope: 'col' }, 'node'), ...names);
  const caption = left > 0 ? [element('caption', { class: 'polyviz-muted' }, `${left} more are not shown: ${MOST_COLUMNS} fit beside each other.`)] : [];
  return element('table', { class: 'polyviz-table' }, ...caption, element('thead', {}, head), body);
}

function factRow(name: string, texts: readonly Child[], meaning: string): HTMLElement {
  const heading = element('th', { scope: 'row' }, name, meaning === '' ? null : element('span', { class: 'polyviz-meaning' }, meaning));
  return element('tr', {}, heading, ...texts.map(text => element('td', {}, text)));
}

function parallelText(variant: Variant): string {
  const loops = loopsOf(variant);
  return `${loops.filter(loop => loop.member.coincident).length} of ${loops.length}`;
}

function mappingText({ model, host }: State, { name, mapping }: Variant): string {
  if (name === model.edit?.variant || mapping?.decisions.length === 0) {
    return 'the same loops';
  }
  if (mapping === null) {
    return host === null ? '–' : 'told once Why? is unfolded';
  }
  return `${mapping.target}: ${[...new Set(mapping.decisions.map(one => one.step))].join(', ')}`;
}

function measured(model: Model, variant: Variant): ComparisonRow | undefined {
  return model.comparison?.rows.find(one => !one.isBaseline && one.label.split('/')[0] === variant.name);
}

function timeOf(model: Model, variant: Variant): Child {
  const row = measured(model, variant);
  if (row === undefined) {
    return 'not timed';
  }
  if (row.median === null) {
    return row.status;
  }
  const [low, high] = row.interval ?? [];
  if (low === undefined || high === undefined) {
    return seconds(row.median);
  }
  return element('span', {}, seconds(row.median), element('span', { class: 'polyviz-meaning' }, ` ${seconds(low)} to ${seconds(high)}`));
}

function verdictOf(model: Model, variant: Variant): Child {
  const row = measured(model, variant);
  if (row === undefined) {
    return 'not compared';
  }
  const [kind, text] = row.verified === true ? ['yes', '✓ verified'] : row.verified === false ? ['no', '✗ differs'] : ['none', '– not compared'];
  return element('span', { class: `polyviz-badge polyviz-verified-${kind}`, title: row.note }, text);
}

function linesOf(variant: Variant): readonly string[] {
  return (variant.program?.text ?? '').trimEnd().split('\n');
}

function codeDifference(state: State, chosen: Chosen, redraw: () => void): readonly HTMLElement[] {
  const pair = chosen.pair(state);
  if (pair === null) {
    return [];
  }
  const [left, right] = pair;
  const pick = (side: 'left' | 'right', now: Variant): HTMLElement => {
    const names = state.model.variants.filter(one => one.program !== null).map(one => one.name);
    const options = names.map(name => element('option', { value: name, selected: name === now.name }, name));
    const select = element('select', { 'aria-label': side === 'left' ? 'Program before' : 'Program after' }, ...options);
    select.addEventListener('change', () => {
      chosen.set(side, select.value);
      redraw();
    });
    return select;
  };
  const before = linesOf(left);
  const after = linesOf(right);
  const lines = aligned(before, after).flatMap(one => differenceLines(one, before, after));
  const text = element('div', { class: 'polyviz-lines polyviz-difference', tabindex: 0, role: 'group', 'aria-label': 'Difference of the programs' }, ...lines);
  return [element('p', { class: 'polyviz-row' }, element('span', { class: 'polyviz-word' }, 'Programs:'), pick('left', left), '→', pick('right', right)), text];
}

function differenceLines(pair: Pair, before: readonly string[], after: readonly string[]): readonly HTMLElement[] {
  if (pair.isSame) {
    return [differenceLine(' ', 'same', after[pair.right!]!)];
  }
  return [
    ...(pair.left === null ? [] : [differenceLine('−', 'gone', before[pair.left]!)]),
    ...(pair.right === null ? [] : [differenceLine('+', 'new', after[pair.right]!)])
  ];
}

function differenceLine(sign: string, kind: string, text: string): HTMLElement {
  return element('div', { class: `polyviz-line polyviz-${kind}` }, element('span', { class: 'polyviz-sign' }, sign), element('code', {}, text || ' '));
}
