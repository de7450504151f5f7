import { afterEach, expect, test, vi } from 'vitest';

import { CHART, ChartPlace, requestChart, type ChartRequest } from '../../src/core/chart';
import { plain, ratiosFigure, rooflineFigure, timesFigure, tuningFigure, type Colours } from '../../src/core/figures';
import { Inspector } from '../../src/core/inspector';
import { comparisonOf, timingsIn, tuningOf } from '../../src/core/readTiming';
import type { Question } from '../../src/core/state';
import { livePictures } from '../../src/lab/livePictures';
import { comparison, sample } from './sample';

const COLOURS: Colours = { ink: 'ink', grid: 'grid', bar: 'bar', best: 'best', plain: 'plain', mark: 'mark' };

/** The traces of a figure, as plotly reads them. */
type Trace = Record<string, never> & { x: number[]; y: unknown[]; text: string[]; marker: { color: string[] }; error_x: { array: number[]; arrayminus: number[] } };
const traces = (figure: { readonly data: readonly object[] } | null): Trace[] => (figure?.data ?? []) as Trace[];

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

test('times have a bar with its interval, the best in its own colour', () => {
  const [bars] = traces(timesFigure(comparisonOf(comparison()), COLOURS));
  expect(bars!.x).toEqual([400, 100]);
  expect(bars!.y).toEqual(['original/numba', 'pluto/c ★']);
  expect(bars!.marker.color).toEqual(['plain', 'best']);
  expect(bars!.error_x.arrayminus[1]).toBeCloseTo(10);
  expect(bars!.error_x.array[1]).toBeCloseTo(20);
});

test('a wide spread of times has a logarithmic axis', () => {
  const wide = comparisonOf(comparison({ median: 0.001, interval: [0.0009, 0.0011] }));
  const near = comparisonOf(comparison());
  const axis = (found: unknown): string => (found as { xaxis: { type: string } }).xaxis.type;
  expect(axis(timesFigure(wide, COLOURS)!.layout)).toBe('log');
  expect(axis(timesFigure(near, COLOURS)!.layout)).toBe('linear');
  const { range, tickvals, title } = (timesFigure(wide, COLOURS)!.layout as { xaxis: { range: number[]; tickvals: number[]; title: { text: string } } }).xaxis;
  expect(range[0]).toBe(-1);
  expect(tickvals.slice(0, 4)).toEqual([0.1, 1, 10, 100]);
  expect(title.text).toContain('logarithmic axis');
});

test('ratios leave the baseline out and have intervals of their own', () => {
  const [points] = traces(ratiosFigure(comparisonOf(comparison()), COLOURS));
  expect(points!.y).toEqual(['pluto/c ★']);
  expect(points!.x).toEqual([4]);
  expect(points!.error_x.array[0]).toBeCloseTo(0.5);
});

test('below the roofline every variant stands at its rate', () => {
  const found = comparisonOf(comparison());
  const figure = rooflineFigure(found, found.roofline!, COLOURS);
  const [memory, , points] = traces(figure);
  expect(points!.x).toEqual([50, 50]);
  expect(points!.y).toEqual([5, 20]);
  expect(Math.max(...(memory!.y as number[]))).toBe(100);
  expect(figure!.words).toContain('pluto/c 20.0 GFLOP/s, 20 % of the limit');
  expect(JSON.stringify(figure!.layout)).toContain('solid: memory, 20.0 GB/s; dashed: last cache, 60.0 GB/s');
});

test('a roofline with a missing figure is none', () => {
  const whole = comparison();
  expect(comparisonOf({ ...whole, roofline: { operations: 3 } }).roofline).toBeNull();
  expect(comparisonOf({ ...whole, roofline: null }).roofline).toBeNull();
});

test('a search is points and the stairs of the best so far', () => {
  const trials = [
    { name: 'the defaults', status: 'accepted', speedup: 1, elapsed: 1, note: '', best: false },
    { name: 'tile <16>', status: 'accepted', speedup: 2, elapsed: 2, note: '', best: true },
    { name: 'pack', status: 'wrong', speedup: null, elapsed: 3, note: 'A differs', best: false }
  ];
  const [stairs, points] = traces(tuningFigure(tuningOf({ title: 'Tuning', outcome: 'Best.', trials }), COLOURS));
  expect(stairs!.y).toEqual([1, 2, 2]);
  expect(points!.text).toEqual(['the defaults', 'tile &lt;16&gt;']);
});

test('nothing timed is no figure', () => {
  const none = comparisonOf({ rows: [], verdict: '' });
  expect([timesFigure(none, COLOURS), ratiosFigure(none, COLOURS)]).toEqual([null, null]);
});

test('names are text to plotly, which reads markup', () => {
  expect(plain('<b onclick="x">&')).toBe('&lt;b onclick="x"&gt;&amp;');
  const hostile = comparison({ label: '<a href="javascript:x">here</a>/c' });
  expect(JSON.stringify(timesFigure(comparisonOf(hostile), COLOURS)!.data)).not.toContain('<a ');
});

test('whoever answers the event draws the chart, and only where it is seen', () => {
  const seen: (() => void)[] = [];
  vi.stubGlobal('ResizeObserver', class { constructor(act: () => void) { seen.push(act); } observe(): void {} });
  const asked: ChartRequest[] = [];
  const host = document.body.appendChild(document.createElement('div'));
  host.addEventListener(CHART, event => {
    const request = (event as CustomEvent<ChartRequest>).detail;
    asked.push(request);
    request.isTaken = true;
  });
  const place = new ChartPlace();
  place.show(colours => timesFigure(comparisonOf(comparison()), colours), [document.createTextNode('otherwise')]);
  host.append(place.root);
  seen.forEach(act => act());
  expect([asked.length, place.root.textContent]).toEqual([0, 'otherwise']);
  Object.defineProperty(place.root, 'clientWidth', { value: 600 });
  seen.forEach(act => act());
  seen.forEach(act => act());
  expect(asked).toHaveLength(1);
  expect(place.root.querySelector('[role=img]')?.getAttribute('aria-label')).toMatch(/^Times per call/);
});

test('a chart out of sight follows no theme, so that the page can forget it', () => {
  const seen: (() => void)[] = [];
  const followed = new Set<object>();
  vi.stubGlobal('ResizeObserver', class { constructor(act: () => void) { seen.push(act); } observe(): void {} });
  vi.stubGlobal('MutationObserver', class { observe(): void { followed.add(this); } disconnect(): void { followed.delete(this); } });
  const place = new ChartPlace();
  expect(followed.size).toBe(0);
  Object.defineProperty(place.root, 'clientWidth', { value: 600, configurable: true });
  seen.forEach(act => act());
  expect(followed.size).toBe(1);
  Object.defineProperty(place.root, 'clientWidth', { value: 0 });
  seen.forEach(act => act());
  expect(followed.size).toBe(0);
  vi.unstubAllGlobals();
});

test('where nobody answers, what stood there stays', () => {
  const place = new ChartPlace();
  document.body.append(place.root);
  Object.defineProperty(place.root, 'clientWidth', { value: 600 });
  place.show(colours => timesFigure(comparisonOf(comparison()), colours), [document.createTextNode('otherwise')]);
  expect(place.root.textContent).toBe('otherwise');
  expect(requestChart(place.root, timesFigure(comparisonOf(comparison()), COLOURS)!)).toBe(false);
});

test('the timing view offers three charts, and its table has the same figures', () => {
  const view = new Inspector({ ...sample(), comparison: comparison() });
  document.body.append(view.root);
  const timing = [...document.querySelectorAll('details')].find(one => one.textContent?.startsWith('Timing'))!;
  expect(timing.querySelectorAll('input[aria-label^="Chart of"]')).toHaveLength(3);
  expect(timing.querySelector('table')!.textContent).toContain('4.00× (3.50 to 4.50)20 %');
  const slow = new Inspector({ ...sample(), comparison: comparison({ median: 5, interval: [5, 5] }) });
  expect(slow.root.textContent).toContain('< 1 %');
  timing.querySelector<HTMLInputElement>('[aria-label="Chart of roofline"]')!.click();
  expect(timing.querySelector('.polyviz-chart svg')?.getAttribute('aria-label')).toContain('20 % of the limit');
});

test('a machine that was never measured can be, where there is a kernel', () => {
  const asked: Question[] = [];
  const live = { host: { ask: (question: Question) => asked.push(question) }, schedulers: [], canRun: true };
  const view = new Inspector({ ...sample(), comparison: { ...comparison(), roofline: null } }, live);
  document.body.append(view.root);
  view.root.querySelector<HTMLInputElement>('[aria-label="Chart of roofline"]')!.click();
  const measure = [...view.root.querySelectorAll('button')].find(one => one.textContent === 'Measure this machine')!;
  measure.click();
  expect(asked).toEqual([{ ask: 'measure' }]);
});

test('results are looked through for what was timed, and no deeper than results go', () => {
  const nested = (depth: number): unknown => (depth === 0 ? { kind: 'comparison', ...comparison() } : { kind: 'combined', sections: [{ model: nested(depth - 1) }] });
  expect(timingsIn(nested(2)).comparisons).toHaveLength(1);
  expect(timingsIn(nested(9)).comparisons).toHaveLength(0);
  expect(timingsIn({ kind: 'combined', sections: [{ model: { kind: 'tuning', trials: [] } }, { model: null }] }).searches).toHaveLength(1);
});

test('on a static page one picture is live and the others are a button away', () => {
  document.body.innerHTML = '<div id="page"><img alt="Bar chart of the time per call of f."><img alt="Roofline of f: x"><img alt="S0"></div>';
  const page = document.getElementById('page')!;
  livePictures(page, { kind: 'comparison', ...comparison() });
  const images = [...page.querySelectorAll('img')];
  expect(images.map(one => one.hidden)).toEqual([true, false, false]);
  const offered = [...page.querySelectorAll('button')].filter(one => one.closest('[hidden]') === null);
  expect(offered).toHaveLength(1);
  offered[0]!.click();
  expect(images.map(one => one.hidden)).toEqual([false, true, false]);
});

test('runs that are over before they begin are said to be short', () => {
  const short = { median: 2e-6, interval: [1e-6, 3e-6] };
  const both = comparison(short);
  const rows = (both['rows'] as Record<string, unknown>[]).map(row => ({ ...row, ...short }));
  const said = (value: unknown): boolean => new Inspector({ ...sample(), comparison: value }).root.textContent!.includes('inspect larger arrays');
  expect([said({ ...both, rows }), said(comparison())]).toEqual([true, false]);
});
