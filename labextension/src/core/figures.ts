/**
 * Charts as plotly reads them: plain values, so that plotly itself is needed only where it is there. Text in a figure is
 * markup to plotly, so names from a model are escaped.
 */

import type { Comparison, ComparisonRow, Roofline, Trial, Tuning } from './model';

/** Colours of the theme that a figure is drawn in. */
export interface Colours {
  readonly ink: string;
  readonly grid: string;
  readonly bar: string;
  readonly best: string;
  readonly plain: string;
  readonly mark: string;
}

/** What plotly draws; `words` say the same to who does not see it. */
export interface Figure {
  readonly data: readonly object[];
  readonly layout: object;
  readonly config: object;
  readonly words: string;
}

/** From this ratio of the longest to the shortest on, short bars could not be compared on a linear axis. */
const LOGARITHMIC_FROM = 12;
/** Over more decades than these only the powers of ten are ticks. */
const MOST_DECADES = 4;
const UNITS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']] as const;
const CONFIG = { displayModeBar: false, responsive: true };
const GIGA = 1e9;
const ROW_HEIGHT = 34;

/** A rate in billions per second. */
export function gigas(rate: number): string {
  return (rate / GIGA).toPrecision(3);
}

/** Text that plotly shows as it is. */
export function plain(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function layoutOf(colours: Colours, height: number, x: object, y: object): object {
  const lines = { gridcolor: colours.grid, zerolinecolor: colours.grid, linecolor: colours.grid, automargin: true };
  return {
    height,
    margin: { l: 8, r: 24, t: 12, b: 8 },
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { color: colours.ink, size: 12 },
    hoverlabel: { align: 'left' },
    showlegend: false,
    xaxis: { ...lines, ...x },
    yaxis: { ...lines, ...y }
  };
}

function timed(comparison: Comparison): readonly ComparisonRow[] {
  return comparison.rows.filter(row => row.status === 'ok' && (row.median ?? 0) > 0);
}

export function nameOf(row: ComparisonRow, comparison: Comparison): string {
  return plain(`${row.label}${row.label === comparison.best ? ' ★' : ''}`);
}

function coloursOf(rows: readonly ComparisonRow[], comparison: Comparison, colours: Colours): readonly string[] {
  return rows.map(row => (row.label === comparison.best ? colours.best : row.isBaseline ? colours.plain : colours.bar));
}

function hover(row: ComparisonRow): string {
  const verified = row.verified === null ? 'not compared' : row.verified ? 'verified' : 'another result';
  return [verified, row.note].filter(Boolean).map(plain).join('<br>');
}

/** Medians with the interval of each, on one axis. */
export function timesFigure(comparison: Comparison, colours: Colours): Figure | null {
  const rows = timed(comparison);
  if (rows.length === 0) {
    return null;
  }
  const medians = rows.map(row => row.median ?? 0);
  const [scale, unit] = UNITS.find(([least]) => Math.max(...medians) >= least) ?? UNITS[3];
  const ends = rows.map(row => row.interval ?? []);
  const isLogarithmic = Math.max(...medians) / Math.min(...medians) > LOGARITHMIC_FROM;
  const bars = {
    type: 'bar',
    orientation: 'h',
    y: rows.map(row => nameOf(row, comparison)),
    x: medians.map(value => value / scale),
    customdata: rows.map((row, place) => [interval(ends[place], scale, unit), speedupText(row), hover(row)]),
    hovertemplate: `%{y}<br>%{x:.4g} ${unit}, 95 %: %{customdata[0]}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>`,
    marker: { color: coloursOf(rows, comparison, colours) },
    error_x: whiskers(medians, ends, scale, colours)
  };
  const all = [...medians, ...ends.flat()].filter(value => value > 0).map(value => value / scale);
  const x = {
    title: { text: `time per call in ${unit}, with the 95 % interval of the median${isLogarithmic ? '; logarithmic axis' : ''}` },
    ...(isLogarithmic ? logarithmic(Math.min(...all), Math.max(...all)) : { type: 'linear' })
  };
  const words = rows.map((row, place) => `${row.label} ${((medians[place] ?? 0) / scale).toPrecision(3)} ${unit}`).join('; ');
  return {
    data: [bars],
    layout: layoutOf(colours, 80 + ROW_HEIGHT * rows.length, x, { autorange: 'reversed' }),
    config: CONFIG,
    words: `Times per call: ${words}. ${comparison.verdict}.`
  };
}

/** An axis from the decade below the least to the largest value, with as many ticks as can be read, and only round ones. */
function logarithmic(least: number, largest: number): object {
  const from = Math.floor(Math.log10(least));
  const decades = Array.from({ length: Math.ceil(Math.log10(largest)) - from + 1 }, (_, place) => 10 ** (from + place));
  const ticks = decades.length > MOST_DECADES ? decades : decades.flatMap(decade => [decade, 2 * decade, 5 * decade]);
  return { type: 'log', range: [from, Math.log10(largest * 1.15)], tickvals: ticks, ticktext: ticks.map(tick => String(Number(tick.toPrecision(1)))) };
}

function interval(ends: readonly number[] | undefined, scale: number, unit: string): string {
  const [low, high] = ends ?? [];
  return low === undefined || high === undefined ? 'no interval' : `${(low / scale).toPrecision(4)} to ${(high / scale).toPrecision(4)} ${unit}`;
}

function speedupText(row: ComparisonRow): string {
  if (row.speedup === null) {
    return 'no ratio';
  }
  const [low, high] = row.speedupInterval ?? [];
  const range = low === undefined || high === undefined ? '' : ` (${low.toPrecision(3)} to ${high.toPrecision(3)})`;
  return `${row.speedup.toPrecision(3)} times as fast as the baseline${range}`;
}

function whiskers(values: readonly number[], ends: readonly (readonly number[])[], scale: number, colours: Colours): object {
  const reach = (place: number, end: number): number => Math.abs((ends[place]?.[end] ?? values[place] ?? 0) - (values[place] ?? 0)) / scale;
  return {
    type: 'data',
    symmetric: false,
    array: values.map((_, place) => reach(place, 1)),
    arrayminus: values.map((_, place) => reach(place, 0)),
    color: colours.ink,
    thickness: 1.4
  };
}

/** How many times as fast as the baseline each variant is, with the interval from paired runs. */
export function ratiosFigure(comparison: Comparison, colours: Colours): Figure | null {
  const rows = timed(comparison).filter(row => (row.speedup ?? 0) > 0 && row.label !== comparison.baseline);
  if (rows.length === 0) {
    return null;
  }
  const ratios = rows.map(row => row.speedup ?? 1);
  const isLogarithmic = Math.max(1, ...ratios) / Math.min(1, ...ratios) > LOGARITHMIC_FROM;
  const points = {
    type: 'scatter',
    mode: 'markers',
    y: rows.map(row => nameOf(row, comparison)),
    x: ratios,
    customdata: rows.map(row => [speedupText(row), hover(row)]),
    hovertemplate: '%{y}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>',
    marker: { color: coloursOf(rows, comparison, colours), size: 11, symbol: 'diamond' },
    error_x: whiskers(ratios, rows.map(row => row.speedupInterval ?? []), 1, colours)
  };
  const x = { title: { text: `speed against ${plain(comparison.baseline || 'the baseline')} = 1; to the right is faster${isLogarithmic ? '; logarithmic axis' : ''}` }, ...(isLogarithmic ? logarithmic(Math.min(1, ...ratios), Math.max(1, ...ratios)) : { type: 'linear', rangemode: 'tozero' }) };
  const layout = layoutOf(colours, 80 + ROW_HEIGHT * rows.length, x, { autorange: 'reversed', type: 'category' });
  return {
    data: [points],
    layout: { ...layout, shapes: [{ type: 'line', x0: 1, x1: 1, y0: 0, y1: 1, yref: 'paper', line: { color: colours.mark, width: 1.4, dash: 'dash' } }] },
    config: CONFIG,
    words: `Ratios: ${rows.map(row => `${row.label} ${speedupText(row)}`).join('; ')}.`
  };
}

/** A point per variant that ran on the processor. */
export function rooflineRows(comparison: Comparison): readonly ComparisonRow[] {
  return timed(comparison).filter(row => !/\/(cuda|emulated)$/.test(row.label));
}

export function shareText(row: ComparisonRow, roof: Roofline): string {
  const rate = roof.operations / (row.median ?? 1);
  return `${gigas(rate)} GFLOP/s, ${Math.round((100 * roof.limit) / (row.median ?? 1))} % of the limit`;
}

/** From this ratio of two rates on, their names can stand apart. */
const APART = 1.25;

/** The name beside each point; points that lie upon each other have one label for all, at the first of them. */
function labels(rows: readonly ComparisonRow[], comparison: Comparison): readonly string[] {
  const texts = rows.map(() => '');
  const order = rows.map((_, place) => place).sort((one, other) => (rows[one]?.median ?? 0) - (rows[other]?.median ?? 0));
  let first = order[0] ?? 0;
  for (const place of order) {
    const isApart = (rows[place]?.median ?? 0) > APART * (rows[first]?.median ?? 0);
    first = isApart ? place : first;
    texts[first] = [texts[first], nameOf(rows[place]!, comparison)].filter(Boolean).join(', ');
  }
  return texts;
}

/** The two slopes of the machine, the work's place below them, and where every variant stands. */
export function rooflineFigure(comparison: Comparison, roof: Roofline, colours: Colours): Figure | null {
  const rows = rooflineRows(comparison);
  if (rows.length === 0) {
    return null;
  }
  const intensity = roof.operations / roof.bytes;
  const ridge = roof.peak / roof.memory;
  const left = Math.min(intensity, ridge) / 8;
  const right = Math.max(intensity, ridge) * 8;
  const slope = (bandwidth: number, name: string, dash: string): object => {
    const turns = [left, Math.max(left, roof.peak / bandwidth), right];
    return {
      type: 'scatter',
      mode: 'lines',
      x: turns,
      y: turns.map(at => Math.min(roof.peak, bandwidth * at) / GIGA),
      line: { color: colours.ink, width: 1.6, dash },
      hovertemplate: `${name}: ${gigas(bandwidth)} GB/s, at most ${gigas(roof.peak)} GFLOP/s<extra></extra>`
    };
  };
  const points = {
    type: 'scatter',
    mode: 'markers+text',
    x: rows.map(() => intensity),
    y: rows.map(row => roof.operations / (row.median ?? 1) / GIGA),
    text: labels(rows, comparison),
    textposition: 'middle right',
    customdata: rows.map(row => [nameOf(row, comparison), shareText(row, roof)]),
    hovertemplate: '%{customdata[0]}<br>%{customdata[1]}<extra></extra>',
    marker: { color: coloursOf(rows, comparison, colours), size: 10 }
  };
  const x = { title: { text: `operations per byte that has to move<br>solid: memory, ${gigas(roof.memory)} GB/s; dashed: last cache, ${gigas(roof.cache)} GB/s` }, type: 'log', dtick: 1 };
  const y = { title: { text: `GFLOP/s in ${plain(roof.dtype)}` }, type: 'log', dtick: 1 };
  return {
    data: [slope(roof.memory, 'memory', 'solid'), slope(roof.cache, 'last cache', 'dash'), points],
    layout: layoutOf(colours, 380, x, y),
    config: CONFIG,
    words: `Roofline, ${intensity.toPrecision(3)} operations per byte, limited by the ${roof.bottleneck}: ${rows.map(row => `${row.label} ${shareText(row, roof)}`).join('; ')}.`
  };
}

/** Every timed candidate when it was decided, and the stairs of the best so far. */
export function tuningFigure(tuning: Tuning, colours: Colours): Figure | null {
  const trials = tuning.trials.filter(one => (one.speedup ?? 0) > 0);
  if (trials.length === 0) {
    return null;
  }
  const accepted = trials.filter(one => one.status === 'accepted');
  const last = Math.max(...trials.map(one => one.elapsed));
  const stairs = {
    type: 'scatter',
    mode: 'lines',
    x: [...accepted.map(one => one.elapsed), last],
    y: [...accepted.map(one => one.speedup), accepted.at(-1)?.speedup ?? 1],
    line: { shape: 'hv', color: colours.best, width: 2 },
    hoverinfo: 'skip'
  };
  const points = {
    type: 'scatter',
    mode: 'markers',
    x: trials.map(one => one.elapsed),
    y: trials.map(one => one.speedup),
    text: trials.map(one => plain(one.name)),
    customdata: trials.map(trialText),
    hovertemplate: '%{text}<br>%{y:.3g} times the defaults at %{x:.1f} s<br>%{customdata}<extra></extra>',
    marker: { size: 9, color: trials.map(one => (one.isBest ? colours.best : colours.bar)), symbol: trials.map(one => (one.isBest ? 'star' : 'circle')) }
  };
  const x = { title: { text: 'seconds of the search' }, rangemode: 'tozero' };
  const y = { title: { text: 'times as fast as the defaults' }, rangemode: 'tozero' };
  return {
    data: [stairs, points],
    layout: { ...layoutOf(colours, 300, x, y), shapes: [{ type: 'line', y0: 1, y1: 1, x0: 0, x1: 1, xref: 'paper', line: { color: colours.mark, width: 1.2, dash: 'dash' } }] },
    config: CONFIG,
    words: `${tuning.title}. ${tuning.outcome}`
  };
}

function trialText(trial: Trial): string {
  return [trial.status, trial.note].filter(Boolean).map(plain).join(': ');
}
