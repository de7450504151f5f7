/** The kernels that a device would run: what `polyviz/views/linked_device.py` writes, and what is read from it. */

import type { Point } from './model';
import { fieldsOf, listOf, mapOf, numberOf, numberOrNull, point, textOf, texts } from './values';

export interface DeviceAccess {
  readonly statement: string;
  readonly text: string;
  readonly mode: string;
  readonly memory: string;
  readonly kind: string;
  readonly strides: readonly (number | null)[];
  /** So many neighbours in a row are as `kind` says; 0 for all of them. */
  readonly piece: number;
  readonly expected: number | null;
  /** What the emulator counted: transactions per request, threads of a warp at work, rounds per request lost to banks. */
  readonly counted: number | null;
  readonly requests: number;
  readonly lanes: number | null;
  readonly conflicts: number;
  readonly bytes: number;
}

/** What an emulated run counted in all, in words. */
export interface EmulatedRun {
  readonly text: string;
  readonly isVerified: boolean;
}

export interface Promotion {
  readonly array: string;
  readonly place: string;
  readonly extents: readonly number[];
  readonly bytes: number;
  readonly reason: string;
  /** Cells of a tile in shared memory that a thread takes at once: they stand beside each other there only. */
  readonly together: number;
}

export interface Card {
  readonly name: string;
  readonly statements: readonly string[];
  readonly grid: readonly string[];
  readonly block: readonly number[];
  readonly threads: readonly string[];
  readonly phases: readonly string[];
  readonly barriers: readonly string[];
  readonly promotions: readonly Promotion[];
  readonly accesses: readonly DeviceAccess[];
  /** Sentences on arrays that do not lie in C order, without an end. */
  readonly layouts: readonly string[];
  readonly occupancy: string;
  /** When the host launches the kernel more than once; empty where it does not. */
  readonly launches: string;
}

type Triple = readonly [number, number, number];

/** One iteration with its block and its thread. */
export interface Placed {
  readonly iteration: readonly number[];
  readonly block: Triple;
  readonly thread: Triple;
}

export interface ThreadPicture {
  readonly title: string;
  readonly kernel: number;
  readonly statement: string;
  readonly iterators: readonly string[];
  readonly block: readonly number[];
  readonly rules: readonly string[];
  readonly placed: readonly Placed[];
  readonly note: string;
}

/** When the drawn instances run: each step of a warp (kernel, block, warp), and for each instance its step and lane. */
export interface Places {
  readonly steps: readonly Point[];
  readonly at: ReadonlyMap<string, readonly Point[]>;
}

/** Who runs the drawn iterations, in blocks of which several fit into a picture; `notes` tell those of each kernel. */
export interface Blocks {
  /** The kernel of each block, then its x, y and z. */
  readonly blocks: readonly Point[];
  readonly threads: readonly Point[];
  /** For each instance of a statement the numbers of its block and of its thread. */
  readonly at: ReadonlyMap<string, readonly Point[]>;
  readonly notes: readonly string[];
}

export interface Device {
  readonly target: string;
  /** Null until somebody has run the kernels in the emulator. */
  readonly run: EmulatedRun | null;
  /** Empty where it is not known for all drawn instances. */
  readonly places: Places;
  /** Null where it is not known for all drawn instances. */
  readonly blocks: Blocks | null;
  readonly kernels: readonly Card[];
  /** The loops of both levels with their tiles as they were mapped, in words. */
  readonly shared: readonly string[];
  readonly pictures: readonly ThreadPicture[];
}

/** Iterations that are drawn at most, whatever a file says. */
const MOST_PLACED = 20_000;

export function deviceOf(value: unknown): Device {
  const fields = fieldsOf(value);
  return { target: textOf(fields['target']), run: fields['run'] ? runOf(fields['run']) : null, places: placesOf(fields['places']), blocks: fields['blocks'] ? blocksOf(fields['blocks']) : null, kernels: listOf(fields['kernels'], cardOf), shared: texts(fields['shared']), pictures: listOf(fields['pictures'], pictureOf) };
}

function runOf(value: unknown): EmulatedRun {
  const fields = fieldsOf(value);
  return { text: textOf(fields['text']), isVerified: fields['verified'] === true };
}

function placesOf(value: unknown): Places {
  const fields = fieldsOf(value);
  return { steps: listOf(fields['steps'], point), at: mapOf(fields['at'], own => listOf(own, point)) };
}

function blocksOf(value: unknown): Blocks {
  const fields = fieldsOf(value);
  return { blocks: listOf(fields['blocks'], point), threads: listOf(fields['threads'], point), at: mapOf(fields['at'], own => listOf(own, point)), notes: texts(fields['notes']) };
}

function cardOf(value: unknown): Card {
  const fields = fieldsOf(value);
  return {
    name: textOf(fields['name']),
    statements: texts(fields['statements']),
    grid: texts(fields['grid']),
    block: point(fields['block']),
    threads: texts(fields['threads']),
    phases: texts(fields['phases']),
    barriers: texts(fields['barriers']),
    promotions: listOf(fields['promotions'], item => {
      const one = fieldsOf(item);
      return {
        array: textOf(one['array']),
        place: textOf(one['place']),
        extents: point(one['extents']),
        bytes: numberOf(one['bytes']),
        reason: textOf(one['reason']),
        together: numberOf(one['together']) || 1
      };
    }),
    accesses: listOf(fields['accesses'], item => {
      const one = fieldsOf(item);
      return {
        statement: textOf(one['statement']),
        text: textOf(one['text']),
        mode: textOf(one['mode']),
        memory: textOf(one['memory']),
        kind: textOf(one['kind']),
        strides: listOf(one['strides'], numberOrNull),
        piece: numberOf(one['piece']),
        expected: numberOrNull(one['expected']),
        counted: numberOrNull(one['counted']),
        requests: numberOf(one['requests']),
        lanes: numberOrNull(one['lanes']),
        conflicts: numberOf(one['conflicts']),
        bytes: numberOf(one['bytes'])
      };
    }),
    layouts: texts(fields['layouts']),
    occupancy: textOf(fields['occupancy']),
    launches: textOf(fields['launches'])
  };
}

function pictureOf(value: unknown): ThreadPicture {
  const fields = fieldsOf(value);
  const iterators = texts(fields['iterators']);
  return {
    title: textOf(fields['title']),
    kernel: numberOf(fields['kernel']),
    statement: textOf(fields['statement']),
    iterators,
    block: point(fields['block']),
    rules: texts(fields['rules']),
    placed: unfolded(listOf(fields['runs'], point), iterators.length),
    note: textOf(fields['note'])
  };
}

/** Every iteration of the runs; a run of another length than it should have is left out. */
export function unfolded(runs: readonly (readonly number[])[], dimensions: number): readonly Placed[] {
  const placed: Placed[] = [];
  for (const run of runs.filter(one => one.length === dimensions + 10)) {
    const triple = (from: number): Triple => [run[dimensions + from] ?? 0, run[dimensions + from + 1] ?? 0, run[dimensions + from + 2] ?? 0];
    const [block, thread, step] = [triple(0), triple(3), triple(6)];
    const count = run.at(-1) ?? 0;
    for (let turn = 0; turn < count && placed.length < MOST_PLACED; turn += 1) {
      const iteration = run.slice(0, dimensions).map((at, axis) => (axis === dimensions - 1 ? at + turn : at));
      placed.push({ iteration, block, thread: [thread[0] + turn * step[0], thread[1] + turn * step[1], thread[2] + turn * step[2]] });
    }
  }
  return placed;
}
