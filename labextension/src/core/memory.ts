/** Where arrays lie and which byte an access touches: rows one after the other, arrays one behind the other. */

import type { Access, ArrayShape, Model, Point } from './model';

/** An array with its place; `base` is the number of its first byte. */
export interface Region {
  readonly shape: ArrayShape;
  readonly extents: Point;
  readonly base: number;
  readonly bytes: number;
}

/** A byte number as a function of the iterators: one factor for each, and a constant. */
export interface Address {
  readonly access: number;
  readonly isWrite: boolean;
  readonly factors: Point;
  readonly constant: number;
}

/** Arrays begin where a line begins, as those that NumPy allocates nearly do. */
const ALIGNMENT = 256;

export function regionsOf(model: Model): readonly Region[] {
  let base = 0;
  return model.arrays.flatMap(shape => {
    const { extents } = shape;
    if (extents === null || extents.length === 0) {
      return [];
    }
    const bytes = extents.reduce((size, extent) => size * extent, shape.elementBytes);
    const region = { shape, extents, base, bytes };
    base += Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    return Number.isSafeInteger(base) ? [region] : [];
  });
}

/** The accesses of each statement whose cells are known, in the order in which an instance makes them. */
export function addressesOf(model: Model, regions: readonly Region[]): readonly (readonly Address[])[] {
  const byName = new Map(regions.map(region => [region.shape.name, region]));
  return model.statements.map(statement =>
    statement.accesses.flatMap((access, number) => {
      const region = byName.get(access.array);
      const linear = region === undefined ? null : linearOf(access, region);
      return linear === null ? [] : [{ ...linear, access: number, isWrite: access.kind === 'write' }];
    })
  );
}

function linearOf(access: Access, region: Region): Pick<Address, 'factors' | 'constant'> | null {
  if (access.subscripts === null || access.subscripts.length !== region.extents.length) {
    return null;
  }
  const width = access.subscripts[0]?.length ?? 1;
  const sums = new Array<number>(width).fill(0);
  let stride = region.shape.elementBytes;
  for (let axis = region.extents.length - 1; axis >= 0; axis -= 1) {
    access.subscripts[axis]?.forEach((factor, place) => (sums[place] = (sums[place] ?? 0) + factor * stride));
    stride *= region.extents[axis] ?? 1;
  }
  return { factors: sums.slice(0, -1), constant: region.base + (sums.at(-1) ?? 0) };
}

export function byteOf(address: Address, iteration: Point): number {
  let byte = address.constant;
  for (let place = 0; place < address.factors.length; place += 1) {
    byte += address.factors[place]! * (iteration[place] ?? 0);
  }
  return byte;
}

/** The accesses that no cache can be asked about, as they are written; those which data decide about, or the others. */
export function unknownAccesses(model: Model, areConditional: boolean): readonly string[] {
  const known = addressesOf(model, regionsOf(model));
  const unknown = model.statements.flatMap((statement, number) => {
    const placed = new Set(known[number]?.map(address => address.access));
    return statement.accesses.filter((access, place) => !placed.has(place) && access.isConditional === areConditional).map(access => access.text);
  });
  return [...new Set(unknown)];
}
