/**
 * What the execution order means for a cache: the lines of every array, which of them are there at the step that is
 * shown, hits and misses of this step and so far, and the same totals for every schedule.
 */

import { bytesText, cacheText, count, isThere, LARGEST, LINES, MOST_TOUCHES, simulate, SMALLEST, totalsOf, WAYS, type CacheShape, type Outcome, type Run } from './cache';
import { element, freshId, items, keepingFocus, scrolling, shape, type Child } from './dom';
import { drawnMemory, linePaths } from './memoryPicture';
import { regionsOf, unknownAccesses } from './memory';
import type { Model } from './model';
import type { Moment } from './order';
import { instanceText } from './selection';
import { saveButtons } from './savePicture';
import type { State } from './state';

const WORDS: Readonly<Record<Outcome, string>> = { hit: 'hit', first: 'miss, first touch', again: 'miss, was evicted' };
const LEGEND: readonly (readonly [string, string])[] = [
  ['there', 'in the cache'],
  ['hit', 'hit in this step'],
  ['first', 'miss: first touch'],
  ['again', 'miss: was evicted']
];
/** More touches than these are counted and not listed. */
const MOST_LISTED = 8;

function counted(number: number, word: 'hit' | 'miss'): string {
  return `${number} ${word}${number === 1 ? '' : word === 'hit' ? 's' : 'es'}`;
}

export function cacheView(state: State): HTMLElement {
  return new CacheView(state).root;
}

class CacheView {
  readonly root = element('div', {});
  private run: Run = { touches: [], ends: [], stays: new Map(), writtenBack: 0 };
  private simulated: { readonly moments: readonly Moment[]; readonly cache: string } | null = null;
  private lines: ReadonlyMap<number, SVGElement> = new Map();
  private looks = new Map<number, string>();
  private readonly step = element('p', { class: 'polyviz-cache-step', 'aria-live': 'polite' });

  constructor(private readonly state: State) {
    state.on(['model', 'variant', 'cache'], () => keepingFocus(this.root, () => this.draw()));
    state.on(['moment'], () => this.mark());
    this.draw();
  }

  private draw(): void {
    this.root.replaceChildren(this.controls(), this.step, ...this.picture(), this.totals(), ...this.notes());
    this.looks = new Map();
    this.mark();
  }

  private controls(): HTMLElement {
    const { cache } = this.state;
    const sizes: number[] = [];
    for (let bytes = SMALLEST; bytes <= LARGEST; bytes *= 2) {
      sizes.push(bytes);
    }
    const change = (part: Partial<CacheShape>): void => void (this.state.cache = { ...cache, ...part });
    return element(
      'fieldset',
      { class: 'polyviz-filter' },
      element('legend', {}, 'Simulate'),
      choice('size', sizes, cache.bytes, bytesText, bytes => change({ bytes })),
      choice('line', LINES, cache.line, line => `${line} B`, line => change({ line })),
      choice('associativity', WAYS, cache.ways, waysText, ways => change({ ways }))
    );
  }

  private picture(): readonly HTMLElement[] {
    const memory = drawnMemory(this.state.model);
    if (memory === null) {
      this.lines = new Map();
      return isEmpty(this.state.model) || regionsOf(this.state.model).length === 0 ? [] : [element('p', { class: 'polyviz-muted' }, 'The arrays are too large for a picture of their lines: totals only.')];
    }
    const svg = shape('svg', {
      viewBox: `0 0 ${memory.width} ${memory.height}`,
      width: memory.width,
      class: 'polyviz-picture',
      role: 'img',
      'aria-label': `Cache lines of ${memory.plots.map(plot => plot.region.shape.name).join(', ')}`
    });
    const lines = new Map<number, SVGElement>();
    for (const [line, path] of linePaths(memory, this.state.cache.line)) {
      const made = shape('path', { d: path, class: 'polyviz-cacheline' });
      lines.set(line, made);
      svg.append(made);
    }
    svg.append(...memory.plots.map(plot => shape('text', { x: plot.x, y: plot.y - 5, class: 'polyviz-title' }, plot.title)));
    this.lines = lines;
    const save = saveButtons(() => `${this.state.model.name}-cache`, () => this.root.querySelector('svg.polyviz-picture'));
    return [element('div', { class: 'polyviz-memory', tabindex: 0, role: 'group', 'aria-label': 'Arrays in memory' }, svg), element('div', { class: 'polyviz-row' }, ...LEGEND.flatMap(legendEntry), save)];
  }

  /** Light the lines of the step that is shown, and say what they are. */
  private mark(): void {
    const { state } = this;
    const cache = cacheText(state.cache);
    if (this.simulated?.moments !== state.moments || this.simulated.cache !== cache) {
      this.simulated = { moments: state.moments, cache };
      this.run = simulate(state.model, state.moments, state.cache);
    }
    const { run } = this;
    const from = run.ends[state.position - 1] ?? 0;
    const to = run.ends[state.position] ?? 0;
    const touched = new Map<number, Outcome>();
    run.touches.slice(from, to).forEach(touch => touched.set(touch.line, worse(touched.get(touch.line), touch.outcome)));
    for (const [line, drawn] of this.lines) {
      const outcome = touched.get(line);
      const look = `polyviz-cacheline ${isThere(run, line, to) ? 'polyviz-there' : ''} ${outcome ? `polyviz-${outcome}` : ''}`;
      if (this.looks.get(line) !== look) {
        this.looks.set(line, look);
        drawn.setAttribute('class', look);
      }
    }
    this.step.textContent = this.sentence(from, to);
  }

  private sentence(from: number, to: number): string {
    const { run, state } = this;
    if (state.position < 0) {
      if (isEmpty(state.model)) {
        return 'No iteration runs for these values, so no array is touched.';
      }
      if (run.touches.length === 0) {
        return 'No access can be followed through a cache: no array is touched, or none has a known shape.';
      }
      const { hit, first, again } = count(run, 0, run.touches.length);
      return `In all ${hit + first + again} accesses: ${counted(hit, 'hit')}, ${counted(first + again, 'miss')}. Step through the order to see where they are.`;
    }
    const now = run.touches.slice(from, to);
    const told = now.slice(0, MOST_LISTED).map(touch => {
      const access = state.model.statements[touch.statement]?.accesses[touch.access];
      return `${access?.text ?? '?'} of ${instanceText(state.model, touch.statement, touch.instance)}: ${WORDS[touch.outcome]}`;
    });
    const more = now.length > MOST_LISTED ? [`and ${now.length - MOST_LISTED} more`] : [];
    const soFar = count(run, 0, to);
    return `${[...told, ...more].join('; ') || 'No array is touched'}. So far ${counted(soFar.hit, 'hit')}, ${counted(soFar.first + soFar.again, 'miss')}.`;
  }

  private totals(): HTMLElement {
    const { model, cache } = this.state;
    const head = ['schedule', 'accesses', 'hits', 'misses', 'of these evicted before', 'written back', 'moved'];
    const rows = model.variants.map((variant, number) => {
      const totals = totalsOf(model, variant, cache);
      const misses = totals.first + totals.again;
      const cells = [totals.accesses, totals.hits, misses, totals.again, totals.writtenBack, bytesText(totals.bytes)];
      return element(
        'tr',
        { 'aria-current': number === this.state.variantNumber ? 'true' : null },
        element('th', { scope: 'row' }, variant.name),
        ...cells.map(cell => element('td', { class: 'polyviz-figure' }, String(cell)))
      );
    });
    const header = element('tr', {}, ...head.map(name => element('th', { scope: 'col' }, name)));
    const table = element('table', { class: 'polyviz-table' }, element('thead', {}, header), element('tbody', {}, ...rows));
    return scrolling('Hits and misses of the schedules', table);
  }

  private notes(): readonly HTMLElement[] {
    const { model, cache } = this.state;
    const [unknown = [], perhaps = []] = isEmpty(model) ? [] : [false, true].map(one => unknownAccesses(model, one));
    const clipped = new Set(model.statements.flatMap(statement => statement.notes));
    const list = items([
      `Exact for the instances that are drawn, one after the other, with an empty cache at first: ${cacheText(cache)}; the line used longest ago makes room. Moved: a line for every miss, and one for every changed line that is written back.`,
      ...(clipped.size > 0 ? [`Only a part of all instances is drawn and counted: ${[...clipped].join(', ')}.`] : []),
      ...(model.variants.some(variant => totalsOf(model, variant, cache).accesses >= MOST_TOUCHES) ? [`Only the first ${MOST_TOUCHES} accesses are simulated.`] : []),
      ...(unknown.length > 0 ? [`Left out, since their cells are not known exactly: ${unknown.join(', ')}.`] : []),
      ...(perhaps.length > 0 ? [`Left out, since only the data decide whether they happen: ${perhaps.join(', ')}.`] : [])
    ]);
    return list === null ? [] : [element('div', { class: 'polyviz-muted' }, list)];
  }
}

/** Whether nothing runs for the drawn values. */
function isEmpty(model: Model): boolean {
  return model.statements.every(statement => statement.points.length === 0);
}

/** Of two outcomes on one line the one that costs more. */
function worse(one: Outcome | undefined, other: Outcome): Outcome {
  return one === undefined || one === 'hit' ? other : one;
}

function waysText(ways: number): string {
  return ways === 0 ? 'full' : ways === 1 ? '1 (direct)' : String(ways);
}

function choice(name: string, values: readonly number[], chosen: number, text: (value: number) => string, set: (value: number) => void): HTMLElement {
  const id = freshId(name);
  const options = values.map(value => element('option', { value, selected: value === chosen }, text(value)));
  const select = element('select', { id, 'aria-label': `Cache ${name}` }, ...options);
  select.addEventListener('change', () => set(Number(select.value)));
  return element('label', { for: id }, name, select);
}

function legendEntry([kind, text]: readonly [string, string]): readonly Child[] {
  const swatch = shape('rect', { x: 1, y: 2, width: 20, height: 8, class: `polyviz-cacheline polyviz-${kind}` });
  return [element('span', { class: 'polyviz-key' }, shape('svg', { width: 22, height: 12, 'aria-hidden': 'true' }, swatch), text)];
}
