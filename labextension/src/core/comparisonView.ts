/** Measured times: a table with bars on one scale, intervals as whiskers, and the verdict in words. */

import { button, element, items, keepingFocus, shape } from './dom';
import type { Comparison, ComparisonRow } from './model';
import type { State } from './state';

export function comparisonView(state: State): HTMLElement {
  const root = element('div', {});
  const draw = (): void => keepingFocus(root, redraw);
  const redraw = (): void => {
    const { comparison } = state.model;
    const run = state.host === null || !state.canRun ? [] : [runner(state, comparison !== null)];
    const none = element('p', { class: 'polyviz-muted' }, 'Nothing was timed.');
    root.replaceChildren(...run, ...(comparison === null ? [none] : table(comparison)));
  };
  state.on(['model', 'busy'], draw);
  draw();
  return root;
}

/** Buttons that verify and time all schedules, and stop that; what is being done stands beside them. */
export function runner(state: State, again: boolean): HTMLElement {
  const run = button(again ? 'Time again' : 'Verify and time', () => state.ask({ ask: 'run' }, 'verifying and timing'));
  run.disabled = state.busy !== '';
  const cancel = button('Cancel', () => state.host?.ask({ ask: 'cancel' }));
  cancel.disabled = state.busy === '';
  return element('p', { class: 'polyviz-row' }, run, cancel, element('span', { class: 'polyviz-muted' }, state.busy));
}

function table(comparison: Comparison): readonly HTMLElement[] {
  const longest = Math.max(...comparison.rows.map(row => row.interval?.[1] ?? row.median ?? 0), 0);
  const head = ['variant', 'status', 'verified', 'median ± 95 %', '', 'speedup', 'note'];
  const rows = comparison.rows.map(row => rowOf(row, comparison, longest));
  const header = element('tr', {}, ...head.map(name => element('th', { scope: 'col' }, name || 'time')));
  const drawn = element('table', { class: 'polyviz-table' }, element('thead', {}, header), element('tbody', {}, ...rows));
  const notes = items(comparison.notes);
  return [
    element('p', {}, `Verdict: ${comparison.verdict}.`),
    element('div', { class: 'polyviz-scroll' }, drawn),
    element('p', { class: 'polyviz-muted' }, comparison.machine),
    ...(notes === null ? [] : [notes])
  ];
}

function rowOf(row: ComparisonRow, comparison: Comparison, longest: number): HTMLElement {
  const baseline = row.isBaseline && row.label === comparison.baseline ? ' (baseline)' : '';
  const verified = row.verified === null ? '– not compared' : row.verified ? '✓ agrees' : '✗ differs';
  const cells = [
    `${row.label}${baseline}${row.label === comparison.best ? ' ★' : ''}`,
    row.status,
    verified,
    row.median === null ? '–' : `${seconds(row.median)}${halfWidth(row)}`
  ];
  return element(
    'tr',
    {},
    ...cells.map(text => element('td', {}, text)),
    element('td', {}, row.median === null || longest <= 0 ? null : bar(row.median, row.interval, longest)),
    element('td', {}, row.speedup === null ? '–' : `${row.speedup.toPrecision(3)}×`),
    element('td', {}, row.note)
  );
}

function halfWidth(row: ComparisonRow): string {
  const [low, high] = row.interval ?? [];
  return low === undefined || high === undefined || row.median === null
    ? ''
    : ` ± ${seconds(Math.max(high - row.median, row.median - low, 0))}`;
}

export function seconds(value: number): string {
  const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']] as const;
  const [scale, unit] = units.find(([least]) => value >= least) ?? units[3];
  return `${(value / scale).toPrecision(3)} ${unit}`;
}

const WIDTH = 140;

function bar(median: number, interval: readonly number[] | null, longest: number): SVGElement {
  const at = (value: number): number => (value / longest) * (WIDTH - 4);
  const [low, high] = interval ?? [];
  const whisker =
    low === undefined || high === undefined
      ? []
      : [shape('path', { d: `M${at(low)} 4v8M${at(high)} 4v8M${at(low)} 8H${at(high)}`, class: 'polyviz-whisker' })];
  const filled = shape('rect', { x: 0, y: 3, width: Math.max(1, at(median)), height: 10, class: 'polyviz-bar' });
  return shape('svg', { width: WIDTH, height: 16, 'aria-hidden': 'true' }, filled, ...whisker);
}
