/** The schedules side by side: their trees aligned loop by loop, what differs marked, and the measured time of each. */

import { seconds } from './comparisonView';
import { element } from './dom';
import { flagsOf, rowText, loopsOf, type Loop } from './loops';
import type { Model, Variant } from './model';
import type { State } from './state';

/** More columns than these cannot be read beside each other. */
const MOST_COLUMNS = 4;

export function sideView(state: State): HTMLElement {
  const root = element('div', { class: 'polyviz-scroll' });
  const draw = (): void => root.replaceChildren(table(state));
  state.on(['model', 'variant'], draw);
  draw();
  return root;
}

function table(state: State): HTMLElement {
  const { model } = state;
  const variants = model.variants.slice(0, MOST_COLUMNS);
  const names = variants.map(one => element('th', { scope: 'col' }, one.name));
  const body = element(
    'tbody',
    {},
    ...model.statements.flatMap(statement => statementRows(statement.name, variants)),
    factRow('parallel loops', variants.map(parallelText)),
    factRow('median time', variants.map(one => timeText(model, one))),
    factRow('lines of code', variants.map(one => (one.program === null ? '–' : String(one.program.text.trim().split('\n').length))))
  );
  const head = element('tr', {}, element('th', { scope: 'col' }, 'loops around'), ...names);
  return element('table', { class: 'polyviz-table' }, element('thead', {}, head), body);
}

/** One row per loop depth of a statement: a cell that differs from the first schedule is marked with a sign and a word. */
function statementRows(name: string, variants: readonly Variant[]): readonly HTMLElement[] {
  const nests = variants.map(one => loopsOf(one).filter(loop => loop.statements.includes(name)));
  const depth = Math.max(0, ...nests.map(nest => nest.length));
  return Array.from({ length: depth }, (_, level) => {
    const first = cellText(nests[0]?.[level], name);
    const cells = nests.map((nest, column) => loopCell(nest[level], name, column > 0 && cellText(nest[level], name) !== first));
    return element('tr', {}, element('th', { scope: 'row' }, level === 0 ? name : ''), ...cells);
  });
}

function cellText(loop: Loop | undefined, statement: string): string {
  return loop === undefined ? '' : [rowOf(loop, statement), ...flagsOf(loop.member)].join(' ');
}

function rowOf(loop: Loop, statement: string): string {
  return loop.member.rows.get(statement) ?? rowText(loop.member);
}

function loopCell(loop: Loop | undefined, statement: string, isOther: boolean): HTMLElement {
  const sign = isOther ? element('span', { class: 'polyviz-differs', title: 'differs from the first schedule' }, '≠ ') : null;
  if (loop === undefined) {
    return element('td', {}, sign, '–');
  }
  const flags = flagsOf(loop.member).map(flag => element('span', { class: 'polyviz-badge' }, flag));
  return element('td', {}, sign, element('code', {}, rowOf(loop, statement)), ' ', ...flags);
}

function factRow(name: string, texts: readonly string[]): HTMLElement {
  return element('tr', {}, element('th', { scope: 'row' }, name), ...texts.map(text => element('td', {}, text)));
}

function parallelText(variant: Variant): string {
  const loops = loopsOf(variant);
  return `${loops.filter(loop => loop.member.coincident).length} of ${loops.length}`;
}

function timeText(model: Model, variant: Variant): string {
  const row = model.comparison?.rows.find(one => !one.isBaseline && one.label.split('/')[0] === variant.name);
  if (row === undefined || row.median === null) {
    return 'not timed';
  }
  return `${seconds(row.median)}, ${row.verified === true ? 'verified' : 'not verified'}`;
}
