/** Arrays as grids of elements, and every cache line as the outline of the elements that lie in it. */

import { regionsOf, type Region } from './memory';
import type { Model } from './model';

/** An array at its place in the picture: its last dimension runs right, the one before it down, others make blocks. */
export interface MemoryPlot {
  readonly region: Region;
  readonly title: string;
  readonly x: number;
  readonly y: number;
  readonly columns: number;
  readonly rows: number;
  readonly cell: number;
}

export interface MemorySheet {
  readonly plots: readonly MemoryPlot[];
  readonly width: number;
  readonly height: number;
}

const WIDEST = 640;
const GAP = 22;
const TITLE = 20;
const BLOCK_GAP = 1;
/** The width of a letter of the titles. */
const LETTER = 7.5;
/** From here on lines would be thinner than a pixel, and drawing them slow. */
const MOST_ELEMENTS = 60_000;

/** The arrays beside each other, in rows; null when they are too large to be seen. */
export function drawnMemory(model: Model): MemorySheet | null {
  const regions = regionsOf(model);
  const elements = regions.reduce((sum, region) => sum + region.bytes / region.shape.elementBytes, 0);
  if (elements === 0 || elements > MOST_ELEMENTS) {
    return null;
  }
  const plots: MemoryPlot[] = [];
  let x = 0;
  let y = TITLE;
  let tallest = 0;
  let width = 0;
  for (const region of regions) {
    const plot = plotOf(region, x, y);
    const placed = x > 0 && x + widthOf(plot) > WIDEST ? { ...plot, x: 0, y: y + tallest + TITLE + 8 } : plot;
    tallest = placed.y === y ? Math.max(tallest, heightOf(placed)) : heightOf(placed);
    y = placed.y;
    x = placed.x + widthOf(placed) + GAP;
    width = Math.max(width, x);
    plots.push(placed);
  }
  return { plots, width: Math.ceil(width), height: Math.ceil(y + tallest + 4) };
}

function plotOf(region: Region, x: number, y: number): MemoryPlot {
  const { extents } = region;
  const columns = extents.at(-1) ?? 1;
  const rows = extents.at(-2) ?? 1;
  const blocks = extents.slice(0, -2).reduce((product, extent) => product * extent, 1);
  const cell = Math.max(1.5, Math.min(12, 300 / Math.max(1, columns), 190 / Math.max(1, rows), WIDEST / (columns * Math.min(blocks, 8) + 8)));
  return { region, title: `${region.shape.name}: ${extents.join(' x ')}`, x: x + 1, y, columns, rows, cell };
}

function blocksOf(plot: MemoryPlot): number {
  return plot.columns * plot.rows === 0 ? 0 : Math.ceil(elementsOf(plot) / (plot.columns * plot.rows));
}

function elementsOf(plot: MemoryPlot): number {
  return plot.region.bytes / plot.region.shape.elementBytes;
}

/** Blocks stand beside each other, as many to a row as there is room for. */
function blocksInRow(plot: MemoryPlot): number {
  return Math.max(1, Math.floor(WIDEST / ((plot.columns + BLOCK_GAP) * plot.cell)));
}

function widthOf(plot: MemoryPlot): number {
  const grid = Math.min(blocksOf(plot), blocksInRow(plot)) * (plot.columns + BLOCK_GAP) * plot.cell;
  return Math.max(grid, plot.title.length * LETTER);
}

function heightOf(plot: MemoryPlot): number {
  return Math.ceil(blocksOf(plot) / blocksInRow(plot)) * (plot.rows + BLOCK_GAP) * plot.cell;
}

/** The outline of every line of `bytes` bytes; one that goes on in the next row is in two pieces. */
export function linePaths(sheet: MemorySheet, bytes: number): ReadonlyMap<number, string> {
  const paths = new Map<number, string>();
  for (const plot of sheet.plots) {
    const perLine = bytes / plot.region.shape.elementBytes;
    const elements = elementsOf(plot);
    for (let element = 0; element < elements; ) {
      const line = Math.floor((plot.region.base + element * plot.region.shape.elementBytes) / bytes);
      const endOfRow = element - (element % plot.columns) + plot.columns;
      const endOfLine = element - (element % perLine) + perLine;
      const end = Math.min(elements, endOfRow, Math.max(element + 1, endOfLine));
      paths.set(line, (paths.get(line) ?? '') + piece(plot, element, end));
      element = end;
    }
  }
  return paths;
}

function piece(plot: MemoryPlot, from: number, to: number): string {
  const row = Math.floor(from / plot.columns);
  const block = Math.floor(row / plot.rows);
  const across = block % blocksInRow(plot);
  const down = Math.floor(block / blocksInRow(plot));
  const left = plot.x + (across * (plot.columns + BLOCK_GAP) + (from % plot.columns)) * plot.cell;
  const top = plot.y + (down * (plot.rows + BLOCK_GAP) + (row % plot.rows)) * plot.cell;
  const inset = plot.cell > 4 ? 0.8 : 0.2;
  const width = (to - from) * plot.cell - 2 * inset;
  const height = plot.cell - 2 * inset;
  const text = (value: number): string => String(Math.round(value * 10) / 10);
  return `M${text(left + inset)} ${text(top + inset)}h${text(width)}v${text(height)}h${text(-width)}z`;
}
