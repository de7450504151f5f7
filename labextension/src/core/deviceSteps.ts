/** The execution on a device, step by step: the threads of a warp together, and how they meet memory at each step. */

import type { Card, Device } from './device';
import { addressesOf, byteOf, regionsOf, type Address } from './memory';
import type { Model, Point } from './model';
import type { Moment } from './order';

/** Bytes of global memory that one transaction moves; banks of shared memory, and the bytes of a word in one. */
export const SEGMENT = 128;
export const BANKS = 32;
const WORD = 4;

/** The steps of all drawn instances, the threads of each in their order; none where the model does not tell them. */
export function deviceMoments(model: Model, device: Device): readonly Moment[] {
  const { places } = device;
  const moments: [number, number][][] = places.steps.map(() => []);
  model.statements.forEach((statement, number) => {
    const own = places.at.get(statement.name) ?? [];
    statement.points.forEach((_, instance) => moments[own[instance]?.[0] ?? -1]?.push([number, instance]));
  });
  const lane = ([statement, instance]: readonly [number, number]): number => places.at.get(model.statements[statement]?.name ?? '')?.[instance]?.[1] ?? 0;
  return moments.map(moment => moment.sort((one, other) => one[0] - other[0] || lane(one) - lane(other)));
}

/** How the threads of one step meet memory with one access. */
export interface Meeting {
  readonly text: string;
  readonly mode: string;
  /** Where the array lives for this kernel: global memory, shared memory or registers. */
  readonly memory: string;
  readonly threads: number;
  /** The segments of global memory that are touched, by number. */
  readonly segments: readonly number[];
  /** Different words of shared memory in each bank; null where the access does not go there, or takes pieces of it. */
  readonly banks: readonly number[] | null;
  /** Cells that a thread takes from shared memory at once, for as many steps of it; 1 where it takes one by one. */
  readonly together: number;
}

/** What a step touches, access by access; accesses whose cells are not known exactly are left out. */
export function meetings(model: Model, device: Device, step: number, moment: Moment): readonly Meeting[] {
  const regions = regionsOf(model);
  const addresses = addressesOf(model, regions);
  const card = device.kernels[device.places.steps[step]?.[0] ?? 0];
  const statements = [...new Set(moment.map(([statement]) => statement))];
  return statements.flatMap(number => {
    const points = moment.filter(([statement]) => statement === number).map(([, instance]) => model.statements[number]?.points[instance] ?? []);
    return (addresses[number] ?? []).map(address => meeting(model, card, number, address, points));
  });
}

function meeting(model: Model, card: Card | undefined, number: number, address: Address, points: readonly Point[]): Meeting {
  const access = model.statements[number]!.accesses[address.access]!;
  const found = card?.promotions.find(one => one.array === access.array);
  const memory = found?.place ?? 'global';
  const size = model.arrays.find(array => array.name === access.array)?.elementBytes ?? 8;
  const bytes = points.map(point => byteOf(address, point));
  const segments = bytes.flatMap(byte => [Math.floor(byte / SEGMENT), Math.floor((byte + size - 1) / SEGMENT)]);
  const cells = (point: Point): Point => (access.subscripts ?? []).map(row => row.reduce((sum, factor, place) => sum + factor * (point[place] ?? 1), 0));
  return {
    text: access.text,
    mode: access.kind,
    memory,
    threads: points.length,
    segments: memory === 'global' ? [...new Set(segments)].sort((one, other) => one - other) : [],
    banks: memory === 'shared' && found !== undefined && found.together === 1 ? banksOf(points.map(cells), found.extents, size) : null,
    together: found?.together ?? 1
  };
}

/**
 * Different words per bank when threads read these cells of a tile with rows of these extents. Where the tile begins
 * does not matter: it only turns the banks. Elements wider than a word go by parts of a warp, whose worst part counts.
 */
export function banksOf(cells: readonly Point[], extents: Point, size: number): readonly number[] {
  const places = cells.map(cell => cell.slice(-extents.length).reduce((sum, at, axis) => sum * (extents[axis] ?? 1) + at, 0));
  const first = Math.min(...places);
  const words = Math.max(1, size / WORD);
  const part = Math.max(1, Math.floor(BANKS / words));
  const most = new Array<number>(BANKS).fill(0);
  for (let begin = 0; begin < places.length; begin += part) {
    const counts = new Array<number>(BANKS).fill(0);
    for (const place of new Set(places.slice(begin, begin + part))) {
      for (let word = 0; word < words; word += 1) {
        counts[((place - first) * words + word) % BANKS]! += 1;
      }
    }
    counts.forEach((count, bank) => (most[bank] = Math.max(most[bank]!, count)));
  }
  return most;
}

/** Which warp of which block takes a step, in words. */
export function stepText(device: Device, step: number, threads: number): string {
  const [kernel = 0, x = 0, y = 0, z = 0, warp = 0] = device.places.steps[step] ?? [];
  const name = device.kernels[kernel]?.name ?? `kernel ${kernel}`;
  return `${name}, block (${x}, ${y}, ${z}), warp ${warp}: ${threads} of ${BANKS} threads at work`;
}
