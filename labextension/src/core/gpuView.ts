/**
 * A schedule for a GPU: the order of blocks and that of threads as two trees, the shape of a block, how neighbouring
 * threads move through memory, and the conditions under which the two orders fit together.
 */

import { accessMotions, warpTransactions, WARP } from './coalescing';
import { blockPicture } from './blockPicture';
import { deviceParts } from './deviceView';
import { element, folding, keepingFocus, scrolling, type Child } from './dom';
import type { Dimension, Model, SuperposedKernel, Superposition, Variant } from './model';
import { runner } from './runner';
import type { State } from './state';

/** Whether there is anything to say of blocks and threads: two orders, kernels, or a kernel process to ask for them. */
export function hasBlocks(state: State): boolean {
  return state.host !== null || state.model.variants.some(variant => variant.superposition !== null || variant.device !== null);
}

export function gpuView(state: State): HTMLDetailsElement {
  const root = element('div', {});
  const part = folding('Blocks and threads', false, root);
  const ask = (): void => {
    // Only when somebody looks.
    if (part.open) {
      state.askForDevice();
    }
  };
  const upper = element('div', {});
  const lower = element('div', {});
  root.append(upper, lower);
  const offer = emulator(state, upper);
  let isDrawn = false;
  const unfold = (): void => {
    if (part.open && !isDrawn) {
      isDrawn = true;
      keepingFocus(lower, () => lower.replaceChildren(...drawn(state.model, state.variant)));
      offer();
    }
    ask();
  };
  const draw = (): void => {
    part.hidden = !hasBlocks(state);
    isDrawn = false;
    unfold();
  };
  part.addEventListener('toggle', unfold);
  state.on(['model', 'variant'], draw);
  draw();
  return part;
}

/** Puts buttons into `place` that run the kernels in the emulator, and stop that, wherever there are kernels. */
function emulator(state: State, place: HTMLElement): () => void {
  const begin = (): void => {
    const variant = state.variant?.name ?? '';
    state.ask({ ask: 'emulate', variant }, `running ${variant} in the emulator`);
  };
  const counts = 'Counts transactions, bank conflicts, barriers and bytes of a run on copies of the arguments; finds races.';
  const run = runner(state, begin, counts, 'Cancel the emulated run');
  const none = element('p', { class: 'polyviz-muted' }, 'Inspect the loops with arguments, and the kernels can be run here in the emulator, which counts what each access costs.');
  return () => {
    const device = state.host === null ? null : (state.variant?.device ?? null);
    const offered = device === null ? null : state.canRun ? run.root : none;
    run.rename(device?.run ? 'Run again in the emulator' : 'Run in the emulator');
    if (place.firstElementChild !== offered) {
      place.replaceChildren(...(offered === null ? [] : [offered]));
    }
  };
}

function drawn(model: Model, variant: Variant | undefined): readonly HTMLElement[] {
  const found = variant?.superposition ?? null;
  const device = variant?.device ?? null;
  const one = element('p', { class: 'polyviz-muted' }, 'This schedule has one order for everything: its parallel loops become blocks and threads. A superposed one has an order of blocks and one of threads.');
  const kernels = device === null ? [] : deviceParts(device);
  if (found === null) {
    return [one, ...kernels];
  }
  const trees = element(
    'div',
    { class: 'polyviz-pair' },
    tree('Order of blocks', found, 'outer'),
    tree('Order of threads', found, 'regular')
  );
  const accesses = device === null ? accessTable(model, found) : [];
  const parts = device === null ? found.kernels.map(kernel => kernelPart(kernel)) : kernels;
  return [trees, ...parts, ...accesses, conditions(found)];
}

type Side = 'outer' | 'regular';

interface Branch {
  readonly statement: string;
  readonly dimensions: readonly Dimension[];
}

function tree(title: string, found: Superposition, side: Side): HTMLElement {
  const other = side === 'outer' ? 'regular' : 'outer';
  const shared = new Map(found.functions.map(one => [one.statement, new Set(one[other].map(loopText))]));
  const branches = found.functions.map(one => ({ statement: one.statement, dimensions: one[side] }));
  const list = element('ul', { class: 'polyviz-tree', 'aria-label': title }, ...nodes(branches, shared));
  return element('div', {}, element('p', { class: 'polyviz-word' }, title), list);
}

/** Statements with the same next dimension share a node; scalar dimensions only keep them in order. */
function nodes(branches: readonly Branch[], shared: ReadonlyMap<string, ReadonlySet<string>>): HTMLElement[] {
  const groups = new Map<string, Branch[]>();
  for (const branch of branches) {
    const [first] = branch.dimensions;
    const key = first === undefined ? `statement ${branch.statement}` : `${first.kind} ${first.text}`;
    groups.set(key, [...(groups.get(key) ?? []), branch]);
  }
  const ordered = [...groups.values()].sort((one, other) => scalarOf(one) - scalarOf(other));
  return ordered.flatMap(group => {
    const first = group[0]?.dimensions[0];
    if (first === undefined) {
      return [element('li', {}, element('span', { class: 'polyviz-node' }, group.map(one => one.statement).join(', ')))];
    }
    const below = nodes(group.map(one => ({ ...one, dimensions: one.dimensions.slice(1) })), shared);
    return first.kind === 'scalar' ? below : [loopNode(first, group, shared, below)];
  });
}

function scalarOf(group: readonly Branch[]): number {
  const first = group[0]?.dimensions[0];
  return first?.kind === 'scalar' ? Number(first.text) : 0;
}

function loopNode(
  dimension: Dimension,
  group: readonly Branch[],
  shared: ReadonlyMap<string, ReadonlySet<string>>,
  below: readonly HTMLElement[]
): HTMLElement {
  const agrees = group.every(one => shared.get(one.statement)?.has(loopText(dimension)) ?? false);
  const badges: Child[] = [
    dimension.axis === '' ? null : badge(`along ${dimension.axis}`, 'parallel'),
    dimension.isReduction ? badge('reduction', 'parallel-reduction') : null,
    agrees ? badge('= in both', 'band') : null
  ];
  const label = element(
    'span',
    { class: 'polyviz-node' },
    element('span', { class: 'polyviz-word' }, dimension.axis === '' ? 'loop ' : 'spread '),
    element('code', {}, dimension.text.replace(/_[xyz]$/, '')),
    ...badges
  );
  return element('li', {}, label, element('ul', {}, ...below));
}

/** What a dimension runs over, without its tile and axis. */
function loopText(dimension: Dimension): string {
  return dimension.text.replace(/_[xyz]$/, '').replace(/^floor\((.*)\/\d+\)$/, '$1');
}

function badge(text: string, kind: string): HTMLElement {
  return element('span', { class: `polyviz-badge polyviz-badge-${kind}` }, text);
}

function kernelPart(kernel: SuperposedKernel): HTMLElement {
  const threads = ['x', 'y', 'z'].map(axis => Math.max(1, kernel.threads.get(axis) ?? 1));
  const all = threads.reduce((product, count) => product * count, 1);
  const grid = kernel.blocks.loops.map(loop => {
    const size = kernel.tiles.get(loop.axis) ?? 1;
    return `${size} ${size === 1 ? 'value' : 'values'} of ${[...new Set(loop.rows.values())].join(' | ')} (along ${loop.axis})`;
  });
  const sentences = [
    grid.length === 0 ? 'One block.' : `A block for every ${grid.join(' by ')}.`,
    `${shapeText(threads)}${all} threads in a block, ${Math.ceil(all / WARP)} ${all > WARP ? 'warps' : 'warp'}${all % WARP === 0 ? '' : `, the last one with ${all % WARP} of ${WARP} threads at work`}.`,
    ...(kernel.phases.length > 1 ? kernel.phases.map((phase, place) => `Phase ${place}: ${phase.text}.`) : []),
    ...kernel.barriers.filter(barrier => barrier.protects !== '').map(barrierText)
  ];
  return element(
    'div',
    { class: 'polyviz-kernel' },
    element('p', { class: 'polyviz-word' }, `Kernel ${kernel.number}`),
    blockPicture(threads, ['x', 'y', 'z'].map(axis => (kernel.blocks.loops.some(loop => loop.axis === axis) ? `…` : '1'))),
    element('ul', {}, ...sentences.map(sentence => element('li', {}, sentence)))
  );
}

/** What is multiplied to the number of threads, where a block has several axes. */
function shapeText(threads: readonly number[]): string {
  const told = threads.filter(count => count > 1);
  return told.length > 1 ? `${told.join(' × ')} = ` : '';
}

function barrierText(barrier: SuperposedKernel['barriers'][number]): string {
  const place = barrier.wraps ? `when the loop goes on from phase ${barrier.before}` : `between phases ${barrier.before} and ${barrier.after}`;
  return `Barrier ${place}: ${barrier.protects}`;
}

function accessTable(model: Model, found: Superposition): readonly HTMLElement[] {
  const motions = accessMotions(model, found);
  if (motions.length === 0) {
    return [];
  }
  const head = ['statement', 'access', 'next thread along x', 'for one warp'];
  const rows = motions.map(one =>
    element(
      'tr',
      {},
      element('td', {}, one.statement),
      element('td', {}, `${one.kind} `, element('code', {}, one.text)),
      element('td', {}, one.motion),
      element('td', {}, warpTransactions(one))
    )
  );
  const header = element('tr', {}, ...head.map(name => element('th', { scope: 'col' }, name)));
  const table = element('table', { class: 'polyviz-table' }, element('thead', {}, header), element('tbody', {}, ...rows));
  return [element('p', { class: 'polyviz-word' }, 'Memory, as neighbouring threads see it'), scrolling('Accesses of neighbouring threads', table)];
}

function conditions(found: Superposition): HTMLElement {
  const told = found.conditions.map(one =>
    element('li', {}, element('strong', {}, one.holds ? '✓ ' : '✗ '), `${one.name}: ${one.asks}${one.holds ? '' : `; fails: ${one.witness}`}`)
  );
  return element('div', {}, element('p', { class: 'polyviz-word' }, 'Why the two orders fit'), element('ul', {}, ...told));
}
