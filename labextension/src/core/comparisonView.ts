/** Measured times: one chart at a time, the same as a table with bars on one scale, and the verdict in words. */

import { ChartPlace } from './chart';
import { button, element, freshId, items, keepingFocus, prose, scrolling, shape } from './dom';
import { ratiosFigure, rooflineFigure, timesFigure, type Colours, type Figure } from './figures';
import type { Comparison, ComparisonRow } from './model';
import { rooflinePicture } from './rooflinePicture';
import { renameTimer, timer, type Runner } from './runner';
import type { State } from './state';

type Kind = 'times' | 'ratios' | 'roofline';
const KINDS: readonly Kind[] = ['times', 'ratios', 'roofline'];

export function comparisonView(state: State): HTMLElement {
  return new ComparisonView(state).root;
}

class ComparisonView {
  readonly root = element('div', {});
  private readonly place = new ChartPlace();
  private readonly upper = element('div', {});
  private readonly lower = element('div', {});
  private readonly run: Runner | null;
  private drawn: Comparison | null = null;
  private kind: Kind = 'times';

  constructor(private readonly state: State) {
    this.run = timer(state);
    this.root.append(...(this.run === null ? [] : [this.run.root]), this.upper, this.place.root, this.lower);
    state.on(['model'], () => keepingFocus(this.root, () => this.draw()));
    this.draw();
  }

  private draw(): void {
    const { comparison } = this.state.model;
    renameTimer(this.run, this.state);
    if (comparison === null) {
      this.upper.replaceChildren(element('p', { class: 'polyviz-muted' }, 'Nothing was timed.'));
      return;
    }
    this.upper.replaceChildren(element('p', {}, `Verdict: ${comparison.verdict}.`), ...shortRuns(comparison), this.choice());
    // A chart is not drawn again for a model with the same times.
    if (this.drawn !== comparison) {
      this.drawn = comparison;
      this.lower.replaceChildren(...table(comparison));
      this.chart(comparison);
    }
  }

  private choice(): HTMLElement {
    const name = freshId('chart');
    const radios = KINDS.map(kind => {
      const radio = element('input', { type: 'radio', name, 'aria-label': `Chart of ${kind}` });
      radio.checked = kind === this.kind;
      radio.addEventListener('change', () => {
        this.kind = kind;
        this.chart(this.drawn!);
      });
      return element('label', {}, radio, kind);
    });
    return element('fieldset', { class: 'polyviz-filter' }, element('legend', {}, 'Chart'), ...radios);
  }

  private chart(comparison: Comparison): void {
    const { roofline } = comparison;
    if (this.kind === 'roofline') {
      this.place.show(
        colours => (roofline === null ? null : rooflineFigure(comparison, roofline, colours)),
        roofline === null ? this.unmeasured() : [rooflinePicture(comparison, roofline)]
      );
      return;
    }
    const figure = (colours: Colours): Figure | null => (this.kind === 'times' ? timesFigure : ratiosFigure)(comparison, colours);
    const told = this.kind === 'times' ? 'The bars are in the table.' : 'The ratios are in the table.';
    this.place.show(figure, [element('p', { class: 'polyviz-muted' }, told)]);
  }

  /** Why there is no roofline, and where a kernel can be asked, the way to one. */
  private unmeasured(): readonly HTMLElement[] {
    const { state } = this;
    if (state.host === null || !state.canRun) {
      return [element('p', { class: 'polyviz-muted' }, 'The speed of the machine was not measured, or the loops compute whole numbers only: there is no roofline.')];
    }
    const measure = button('Measure this machine', () => state.ask({ ask: 'measure' }, 'measuring this machine'));
    return [element('p', { class: 'polyviz-row' }, 'A roofline needs the speed of this machine; finding it out takes a few seconds. Loops that compute whole numbers only have none.', measure)];
  }
}

/** Runs below this many seconds are calls more than loops. */
const SHORT = 5e-5;

/** Who compares orders on tiny arrays should know that the orders hardly count there. */
function shortRuns(comparison: Comparison): readonly HTMLElement[] {
  const medians = comparison.rows.flatMap(row => (row.median === null ? [] : [row.median]));
  const isShort = medians.length > 0 && Math.max(...medians) < SHORT;
  const told = 'All of these runs take only microseconds, some of them spent on calling the function: inspect larger arrays to compare orders.';
  return isShort ? [element('p', { class: 'polyviz-muted' }, told)] : [];
}

function table(comparison: Comparison): readonly HTMLElement[] {
  const longest = Math.max(...comparison.rows.map(row => row.interval?.[1] ?? row.median ?? 0), 0);
  const head = ['variant', 'status', 'verified', 'median (95 %)', '', 'speedup', ...(comparison.roofline === null ? [] : ['of the limit']), 'note'];
  const rows = comparison.rows.map(row => rowOf(row, comparison, longest));
  const header = element('tr', {}, ...head.map(name => element('th', { scope: 'col' }, name || 'time, from 0')));
  const drawn = element('table', { class: 'polyviz-table' }, element('thead', {}, header), element('tbody', {}, ...rows));
  const notes = items(comparison.notes);
  return [
    scrolling('Table of the times', drawn),
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
    row.median === null ? '–' : `${seconds(row.median)}${bounds(row)}`
  ];
  return element(
    'tr',
    {},
    ...cells.map(text => element('td', {}, text)),
    element('td', {}, row.median === null || longest <= 0 ? null : bar(row.median, row.interval, longest)),
    element('td', {}, row.speedup === null ? '–' : speedup(row)),
    ...(comparison.roofline === null ? [] : [element('td', {}, shareOf(row, comparison.roofline.limit))]),
    element('td', {}, ...prose(row.note))
  );
}

function shareOf(row: ComparisonRow, limit: number): string {
  if (row.median === null || row.median <= 0) {
    return '–';
  }
  const percent = (100 * limit) / row.median;
  return percent < 1 ? '< 1 %' : `${Math.round(percent)} %`;
}

/** The ratio to the baseline with its interval from paired runs. */
function speedup(row: ComparisonRow): string {
  const [low, high] = row.speedupInterval ?? [];
  const range = low === undefined || high === undefined || row.isBaseline ? '' : ` (${low.toPrecision(3)} to ${high.toPrecision(3)})`;
  return `${row.speedup?.toPrecision(3)}×${range}`;
}

/** The interval of the median, which need not lie in its middle. */
function bounds(row: ComparisonRow): string {
  const [low, high] = row.interval ?? [];
  return low === undefined || high === undefined ? '' : ` (${seconds(low)} to ${seconds(high)})`;
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
