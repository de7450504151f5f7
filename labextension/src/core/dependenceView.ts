/** The dependences as a table: filtered by kind and array, each with its distances and what carries it. */

import { breakable, element, keepingFocus, shape, type Child } from './dom';
import { carriersText } from './loops';
import type { Relation } from './model';
import { INPUT, KINDS } from './palette';
import { onPick, rove } from './roving';
import { NOTHING } from './selection';
import type { State } from './state';

export function isShown(state: State, relation: Relation): boolean {
  return !state.hiddenKinds.has(relation.kind) && !state.hiddenArrays.has(relation.array);
}

export function dependenceView(state: State): HTMLElement {
  const root = element('div', {});
  let mark = (): void => undefined;
  const draw = (): void => {
    const scrolled = root.querySelector('.polyviz-scroll')?.scrollTop ?? 0;
    const [table, marker] = tableOf(state);
    root.replaceChildren(filters(state), table);
    root.querySelectorAll('.polyviz-scroll').forEach(one => (one.scrollTop = scrolled));
    mark = marker;
    mark();
  };
  state.on(['model', 'variant'], () => keepingFocus(root, draw));
  state.on(['selection', 'filter'], () => mark());
  draw();
  return root;
}

function filters(state: State): HTMLElement {
  const kinds = [...new Set(state.model.relations.map(one => one.kind))];
  const arrays = [...new Set(state.model.relations.map(one => one.array))];
  const ofKinds = group('Kinds', kinds, state.hiddenKinds, hidden => (state.hiddenKinds = hidden), state);
  const ofArrays = group('Arrays', arrays, state.hiddenArrays, hidden => (state.hiddenArrays = hidden), state);
  return element('div', { class: 'polyviz-row' }, kinds.length > 0 ? ofKinds : null, arrays.length > 1 ? ofArrays : null);
}

function group(
  legend: string,
  names: readonly string[],
  hidden: ReadonlySet<string>,
  set: (hidden: ReadonlySet<string>) => void,
  state: State
): HTMLElement {
  const off = new Set(hidden);
  const boxes = names.map(name => {
    const box = element('input', { type: 'checkbox' });
    box.checked = !off.has(name);
    box.addEventListener('change', () => {
      if (box.checked) {
        off.delete(name);
      } else {
        off.add(name);
      }
      set(new Set(off));
      state.tell('filter');
    });
    return element('label', {}, box, KINDS.has(name) ? sample(name) : null, name);
  });
  return element('fieldset', { class: 'polyviz-filter' }, element('legend', {}, legend), ...boxes);
}

/** A short line in the style of a kind. */
export function sample(kind: string): SVGElement {
  const style = KINDS.get(kind);
  const line = { x1: 1, y1: 6, x2: 27, y2: 6, class: `polyviz-arrow polyviz-${style ? kind : 'other'}` };
  return shape(
    'svg',
    { width: 28, height: 12, 'aria-hidden': 'true' },
    shape('line', { ...line, 'stroke-dasharray': style?.dash || null, 'stroke-width': style?.isDouble ? 4 : 2 }),
    style?.isDouble ? shape('line', { ...line, class: 'polyviz-inner' }) : null
  );
}

/** A vector whose first entry that is not 0 is negative: in the order of the source, values of that loop fall. */
const DOWNWARDS = /^\((0, )*≤?-/;
const HEADINGS = ['kind', 'array', 'source → sink', 'distance', 'carried by', 'pairs'];

function tableOf(state: State): [HTMLElement, () => void] {
  const rows = state.model.relations.map((relation, number) => rowOf(state, relation, number));
  const isSplit = state.model.relations.some(one => one.distances.some(distance => distance.includes('|')));
  const isDownwards = state.model.relations.some(one => one.distances.some(distance => DOWNWARDS.test(distance)));
  const meanings = [...(isSplit ? ['loops around both | loops of each'] : []), ...(isDownwards ? ['first below 0: that loop runs downwards'] : [])];
  const meaning = meanings.map(text => element('span', { class: 'polyviz-meaning' }, text));
  const head = element('tr', {}, ...HEADINGS.map(name => element('th', { scope: 'col' }, name, ...(name === 'distance' ? meaning : []))));
  const body = element('tbody', {}, ...rows);
  rove(body, 'tr');
  const table = element('table', { class: 'polyviz-table', role: 'grid', 'aria-multiselectable': 'true', 'aria-label': 'Dependences' }, element('thead', {}, head), body);
  const none = element('p', {}, 'No dependence: any order is legal.');
  const mark = (): void =>
    rows.forEach((row, number) => {
      const relation = state.model.relations[number];
      row.hidden = relation !== undefined && !isShown(state, relation);
      row.setAttribute('aria-selected', String(!state.light.isEmpty && state.light.relations.has(number)));
    });
  const isOrdered = state.model.relations.some(one => one.kind !== INPUT);
  const shown = rows.length > 0 ? element('div', { class: 'polyviz-scroll' }, table) : null;
  return [element('div', {}, isOrdered ? null : none, shown), mark];
}

/** How many pairs there are for the sizes drawn, and how many of them are. */
function countText(relation: Relation): string {
  const drawn = relation.pairs.length;
  if (relation.count === null) {
    return drawn > 0 ? `${drawn} drawn` : '';
  }
  return drawn < relation.count ? `${relation.count}, ${drawn} drawn` : String(relation.count);
}

/** The distances, none of them broken in two; the relation itself where there is no fixed number of them. */
function distances(relation: Relation): readonly Child[] {
  const whole = relation.distances.flatMap((one, place) => [place > 0 ? ', ' : null, element('code', { class: 'polyviz-whole' }, one)]);
  return whole.length > 0 ? whole : [element('code', {}, relation.relation)];
}

function rowOf(state: State, relation: Relation, number: number): HTMLTableRowElement {
  const carried = state.variant === undefined ? '' : carriersText(state.model, state.variant, number);
  const row = element(
    'tr',
    { tabindex: -1, 'aria-selected': 'false' },
    element('td', {}, sample(relation.kind), ` ${relation.kind}`),
    element('td', {}, element('code', {}, ...breakable(relation.array))),
    element('td', {}, `${relation.source} → ${relation.sink}`),
    element('td', {}, ...distances(relation)),
    element('td', {}, carried),
    element('td', {}, countText(relation))
  );
  onPick(row, () => {
    const isChosen = state.selection.what === 'relation' && state.selection.relation === number;
    state.select(isChosen ? NOTHING : { what: 'relation', relation: number });
  });
  return row;
}
