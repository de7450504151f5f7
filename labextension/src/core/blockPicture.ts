/** A grid of blocks and the threads of one of them. */

import { WARP } from './coalescing';
import { shape } from './dom';

/** The most blocks that are drawn along x and y, and how large each is. */
const GRID = { columns: 4, rows: 3, cell: 17 };
const BLOCK = 168;
const LONGEST = 64;

/**
 * A grid of blocks, one of them enlarged to its threads; every other warp is shaded. `grid` holds the blocks along x, y
 * and z: a number of them where it is fixed, otherwise a text or nothing.
 */
export function blockPicture(threads: readonly number[], grid: readonly string[]): SVGElement {
  const [x = 1, y = 1, z = 1] = threads;
  const [along, down] = [drawnOf(grid.slice(0, 1), GRID.columns), drawnOf(grid.slice(1), GRID.rows)];
  const more = along.more || down.more;
  const total = x * y * z;
  // A long row of threads would be a hairline: its warps stand below each other.
  const columns = x > LONGEST ? WARP : x;
  const rows = Math.ceil(total / columns);
  const cell = Math.min(12, BLOCK / columns, 120 / rows);
  const left = along.count * (GRID.cell + 3) + 46;
  const width = left + columns * cell + 8;
  const height = Math.max(down.count * (GRID.cell + 3), rows * cell) + 22;
  const blocks = Array.from({ length: along.count * down.count }, (_, place) =>
    shape('rect', {
      x: 2 + (place % along.count) * (GRID.cell + 3),
      y: 18 + Math.floor(place / along.count) * (GRID.cell + 3),
      width: GRID.cell,
      height: GRID.cell,
      class: place === 0 ? 'polyviz-block polyviz-chosen' : 'polyviz-block'
    })
  );
  const ones = Array.from({ length: Math.min(total, 2048) }, (_, place) =>
    shape('rect', {
      x: left + (place % columns) * cell + 0.5,
      y: 18 + Math.floor(place / columns) * cell + 0.5,
      width: Math.max(0.5, cell - 1),
      height: Math.max(0.5, cell - 1),
      class: Math.floor(place / WARP) % 2 === 0 ? 'polyviz-thread' : 'polyviz-thread polyviz-odd'
    })
  );
  const from = 2 + GRID.cell;
  const zoom = [18, 18 + GRID.cell].map((at, end) =>
    shape('line', { x1: from, y1: at, x2: left, y2: end === 0 ? 18 : 18 + rows * cell, class: 'polyviz-zoom' })
  );
  const names = [
    shape('text', { x: 2, y: 12 }, along.count * down.count === 1 && !more ? 'one block' : `blocks${more ? ' …' : ''}`),
    shape('text', { x: left, y: 12 }, `${threads.filter((count, axis) => axis === 0 || count > 1).join(' × ')} threads, warps shaded in turn`)
  ];
  const label = `A grid of ${grid.filter((size, axis) => axis === 0 || size !== '1').join(' × ') || '1'} blocks; each block has ${total} threads`;
  const least = left + 250;
  const size = { width: Math.max(width, least), height };
  return shape('svg', { viewBox: `0 0 ${size.width} ${size.height}`, ...size, class: 'polyviz-picture', role: 'img', 'aria-label': label }, ...blocks, ...zoom, ...ones, ...names);
}

/** How many blocks are drawn along axes with these sizes, and whether there are or may be more. */
function drawnOf(sizes: readonly string[], most: number): { readonly count: number; readonly more: boolean } {
  const fixed = sizes.every(size => /^\d+$/.test(size));
  const all = sizes.reduce((product, size) => product * Number(size), 1);
  return fixed ? { count: Math.max(1, Math.min(most, all)), more: all > most } : { count: most, more: true };
}
