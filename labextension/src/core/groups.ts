/** Instances that belong together in the picture of the domain: the tiles of a schedule, or the blocks of a device. */

import { tilesOf, type Mark, type Pane } from './clouds';
import type { Blocks } from './device';
import type { Model, Variant } from './model';

/** What the colours and outlines of the domain tell. */
export type Shading = 'tiles' | 'blocks';

/** Instances of one statement with an outline of their own; neighbours differ in `tint`. */
export interface Group {
  readonly marks: readonly Mark[];
  readonly tint: string;
  /** What stands in the outline where there is room. */
  readonly label: string;
}

/** Who runs an instance, for its colour and for words. */
export interface Worker {
  readonly block: number;
  readonly thread: number;
}

/** Colours of blocks, and steps of strength of threads. */
export const BLOCK_COLOURS = 5;
const STRENGTHS = 4;

export function groupsOf(shading: Shading, variant: Variant, pane: Pane, model: Model): readonly Group[] {
  const blocks = shading === 'blocks' ? variant.device?.blocks : null;
  if (blocks) {
    return blockGroups(blocks, pane, model);
  }
  return tilesOf(variant, pane, model).map(({ marks, isOdd }) => ({ marks, tint: isOdd ? 'polyviz-tile polyviz-odd' : 'polyviz-tile', label: '' }));
}

function blockGroups(blocks: Blocks, pane: Pane, model: Model): readonly Group[] {
  const found = new Map<string, { readonly block: number; readonly marks: Mark[] }>();
  for (const mark of pane.marks) {
    const worker = workerOf(blocks, model, mark);
    if (worker !== null) {
      const key = `${mark.statement} ${worker.block}`;
      const group = found.get(key) ?? { block: worker.block, marks: [] };
      found.set(key, group);
      group.marks.push(mark);
    }
  }
  return [...found.values()].map(({ block, marks }) => ({ marks, tint: `polyviz-run polyviz-block-${colourOf(blocks, block)}`, label: `block ${coordinates(blocks.blocks[block] ?? [])}` }));
}

/** Who runs an instance; null where that is not known. */
export function workerOf(blocks: Blocks, model: Model, { statement, instance }: Pick<Mark, 'statement' | 'instance'>): Worker | null {
  const [block, thread] = blocks.at.get(model.statements[statement]?.name ?? '')?.[instance] ?? [];
  return block === undefined || thread === undefined ? null : { block, thread };
}

/** Neighbouring blocks differ along every axis, as long as there are colours. */
export function colourOf(blocks: Blocks, block: number): number {
  const [, x = 0, y = 0, z = 0] = blocks.blocks[block] ?? [];
  return (((x + 2 * y + 3 * z) % BLOCK_COLOURS) + BLOCK_COLOURS) % BLOCK_COLOURS;
}

/** How strong the sign of a thread is: threads of a block beside each other differ. */
export function strengthOf(blocks: Blocks, thread: number): number {
  const [x = 0, y = 0, z = 0] = blocks.threads[thread] ?? [];
  return (x + 2 * y + z) % STRENGTHS;
}

/** Who runs an instance, in words. */
export function workerText(blocks: Blocks, { block, thread }: Worker): string {
  const [kernel = 0] = blocks.blocks[block] ?? [];
  return `thread ${coordinates([0, ...(blocks.threads[thread] ?? [])])} of block ${coordinates(blocks.blocks[block] ?? [])} of kernel ${kernel}`;
}

/** A block or thread without the kernel in front of it, and without the axes at the end along which there is only one. */
function coordinates(found: readonly number[]): string {
  const [x = 0, y = 0, z = 0] = found.slice(1);
  return `(${(z !== 0 ? [x, y, z] : [x, y]).join(', ')})`;
}
