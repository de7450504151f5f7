/** Cards of the kernels that a device would run, and the pictures of who runs what. */

import { blockPicture } from './blockPicture';
import { bytesText } from './cache';
import type { Card, Device, DeviceAccess } from './device';
import { element, folding, items, scrolling, type Child } from './dom';
import { threadPicture } from './threadPicture';

/** Signs of a grid that stand in one line; as in the text form of a card. */
const LONGEST_GRID = 90;

export function deviceParts(device: Device): readonly HTMLElement[] {
  const pictures = device.pictures.map(threadPicture);
  const drawn = pictures.length === 0 ? [] : [folding('Which thread runs which iteration', true, element('div', { class: 'polyviz-pair' }, ...pictures))];
  const shared = items(device.shared.map(one => `${one}.`));
  const loops = shared === null ? [] : [element('p', { class: 'polyviz-word' }, 'Tiles and threads, as they were mapped'), shared];
  const { run } = device;
  const counted = run === null ? [] : [element('p', { class: 'polyviz-counted' }, element('strong', {}, run.isVerified ? '✓ Counted in the emulator: ' : 'Counted in the emulator: '), `${run.text}.`)];
  return [...counted, ...loops, ...device.kernels.map(card => cardPart(card, run !== null)), ...drawn];
}

function cardPart(card: Card, isCounted: boolean): HTMLElement {
  const grid = gridLines(card, sizes(card.block.map(String)));
  const barriers = card.barriers.length === 0 ? ['No barrier: no thread has to wait for another.'] : card.barriers.map(one => `Barrier: ${one}`);
  const facts = items([
    ...grid,
    ...[card.launches, card.occupancy].flatMap(text => (text === '' ? [] : [`${text[0]?.toUpperCase()}${text.slice(1)}.`])),
    ...(card.threads.length > 0 ? [`Threads: ${card.threads.join(', ')}.`] : []),
    ...(card.phases.length > 1 ? card.phases.map((phase, number) => `Phase ${number}: ${phase}.`) : []),
    ...barriers
  ]);
  const layouts = items(card.layouts.map(one => `${one}.`));
  return element(
    'div',
    { class: 'polyviz-kernel', role: 'group', 'aria-label': `Kernel ${card.name}` },
    element('p', {}, element('strong', {}, card.name), ` runs ${card.statements.join(', ')}`),
    blockPicture([0, 1, 2].map(axis => Math.max(1, card.block[axis] ?? 1)), card.grid),
    facts,
    ...(card.promotions.length === 0 ? [] : [promotions(card)]),
    ...(layouts === null ? [] : [layouts]),
    accesses(card, isCounted)
  );
}

/** The grid in a line, or in one per axis where its sizes are long. */
function gridLines(card: Card, block: string): readonly string[] {
  const whole = sizes(card.grid);
  if (whole.length <= LONGEST_GRID) {
    return [`Blocks in the grid: ${whole}, each of ${block} threads.`];
  }
  const lines = card.grid.map((size, axis) => `Blocks along ${'xyz'[axis] ?? axis}: ${size}.`);
  return [`Blocks of ${block} threads.`, ...lines.filter((_, axis) => axis === 0 || card.grid[axis] !== '1')];
}

/** Sizes along x, y and z without those that are 1. */
function sizes(all: readonly string[]): string {
  const told = all.filter((size, axis) => axis === 0 || size !== '1');
  return told.join(' × ');
}

function promotions(card: Card): HTMLElement {
  const rows = card.promotions.map(one => [
    element('code', {}, one.array),
    one.place,
    one.extents.join('\u00a0×\u00a0'),
    one.bytes === 0 ? '' : bytesText(one.bytes),
    one.reason
  ]);
  return table('Where arrays live', ['array', 'lives in', 'cells', 'size', 'why'], rows);
}

function accesses(card: Card, isCounted: boolean): HTMLElement {
  const rows = card.accesses.map(one => [
    one.statement,
    element('code', {}, one.text),
    one.mode,
    one.memory,
    `${one.kind}${one.piece > 0 ? ` in pieces of ${one.piece}` : ''}${strides(one)}`,
    one.memory === 'shared' ? '' : one.expected === null ? 'not fixed by x alone' : String(one.expected),
    ...(isCounted ? counts(one) : [])
  ]);
  const told = ['statement', 'access', '', 'memory', 'neighbour along x', isCounted ? 'transactions expected' : 'transactions per request'];
  const found = isCounted ? ['counted per request', 'requests', 'threads of 32 at work', 'asked for'] : [];
  return table('How each access meets memory', [...told, ...found], rows);
}

/** What the emulator counted of an access: transactions of global memory, or rounds that banks of shared memory cost. */
function counts(one: DeviceAccess): readonly Child[] {
  if (one.requests === 0) {
    return ['did not run', '', '', ''];
  }
  const banks = one.conflicts === 0 ? 'no bank conflicts' : `${one.conflicts.toFixed(2)} bank conflicts`;
  const met = one.memory === 'shared' ? banks : (one.counted ?? 0).toFixed(2);
  return [element('strong', {}, met), String(one.requests), (one.lanes ?? 0).toFixed(1), bytesText(one.bytes)];
}

function strides(access: DeviceAccess): string {
  const told = access.strides.map(one => (one === null ? '?' : String(one)));
  return told.length === 0 ? '' : `, moves by\u00a0(${told.join(',\u00a0')})`;
}

function table(caption: string, head: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const header = element('tr', {}, ...head.map(name => element('th', { scope: 'col' }, name || 'kind')));
  const body = rows.map(cells => element('tr', {}, ...cells.map(cell => element('td', {}, cell))));
  const made = element('table', { class: 'polyviz-table' }, element('caption', { class: 'polyviz-word' }, caption), element('thead', {}, header), element('tbody', {}, ...body));
  return scrolling(caption, made);
}
