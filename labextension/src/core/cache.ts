/**
 * A cache, simulated access by access and exactly: sets of `ways` lines each, the line that was used longest ago makes
 * room (least recently used), what is written is fetched first and written back when it leaves.
 */

import { addressesOf, byteOf, regionsOf, type Address } from './memory';
import type { Model, Ordering, Point } from './model';
import { momentsOf, type Moment } from './order';

/** Sizes in bytes; `ways` lines to a set, 0 for one set of all lines. */
export interface CacheShape {
  readonly bytes: number;
  readonly line: number;
  readonly ways: number;
}

/** `first`: no access to the line before, so that every cache misses it; `again`: it was there and had to leave. */
export type Outcome = 'hit' | 'first' | 'again';

export interface Touch {
  readonly statement: number;
  readonly instance: number;
  readonly access: number;
  readonly line: number;
  readonly outcome: Outcome;
}

export interface Run {
  readonly touches: readonly Touch[];
  /** Per moment, how many touches there were when it was over. */
  readonly ends: readonly number[];
  /** Per line the touches with which it came and left, in turn. */
  readonly stays: ReadonlyMap<number, readonly number[]>;
  readonly writtenBack: number;
}

export interface Totals {
  readonly accesses: number;
  readonly hits: number;
  readonly first: number;
  readonly again: number;
  /** Lines that were changed, and go back to the memory when they leave, or in the end. */
  readonly writtenBack: number;
  /** Bytes between the cache and the memory behind it, both ways. */
  readonly bytes: number;
  readonly instances: number;
  /** Steps when the iterations of parallel loops run at once. */
  readonly steps: number;
}

export const LINES = [16, 32, 64, 128, 256] as const;
export const WAYS = [1, 2, 4, 8, 16, 0] as const;
export const SMALLEST = 128;
export const LARGEST = 1 << 20;

/** A cache in which the order matters: pictures are of small arrays, and in a large one all of them would fit. */
export function usualCache(model: Model): CacheShape {
  const data = regionsOf(model).reduce((sum, region) => sum + region.bytes, 0);
  const fitting = 2 ** Math.round(Math.log2(Math.max(1, data / 4)));
  return { bytes: Math.min(32768, Math.max(SMALLEST, fitting)), line: 32, ways: 4 };
}

/** The cache with `ways` that exist: a set has no more lines than the cache. */
function setsOf(cache: CacheShape): { readonly sets: number; readonly ways: number } {
  const lines = Math.max(1, Math.floor(cache.bytes / cache.line));
  const ways = cache.ways === 0 ? lines : Math.min(cache.ways, lines);
  return { sets: Math.max(1, Math.floor(lines / ways)), ways };
}

/** More accesses than these would not be followed step by step, and take longer than a person waits for a picture. */
export const MOST_TOUCHES = 60_000;

export function simulate(model: Model, moments: readonly Moment[], cache: CacheShape): Run {
  const addresses = addressesOf(model, regionsOf(model));
  const simulation = new Simulation(cache);
  const ends: number[] = [];
  for (const moment of moments) {
    if (simulation.touches.length < MOST_TOUCHES) {
      moment.forEach(([statement, instance]) => run(simulation, model, addresses, statement, instance));
    }
    ends.push(simulation.touches.length);
  }
  return { touches: simulation.touches, ends, stays: simulation.stays, writtenBack: simulation.finish() };
}

function run(simulation: Simulation, model: Model, addresses: readonly (readonly Address[])[], statement: number, instance: number): void {
  const iteration = model.statements[statement]?.points[instance] ?? [];
  for (const address of addresses[statement] ?? []) {
    simulation.touch(statement, instance, address, iteration);
  }
}

class Simulation {
  readonly touches: Touch[] = [];
  readonly stays = new Map<number, number[]>();
  private readonly sets: readonly Map<number, boolean>[];
  private readonly ways: number;
  private writtenBack = 0;

  constructor(private readonly cache: CacheShape) {
    const { sets, ways } = setsOf(cache);
    this.ways = ways;
    this.sets = Array.from({ length: sets }, () => new Map<number, boolean>());
  }

  touch(statement: number, instance: number, address: Address, iteration: Point): void {
    const line = Math.floor(byteOf(address, iteration) / this.cache.line);
    // The lines of a set from the one used longest ago to the latest, each with whether it was written.
    const set = this.sets[((line % this.sets.length) + this.sets.length) % this.sets.length]!;
    const wasWritten = set.get(line);
    const outcome = wasWritten !== undefined ? 'hit' : this.stays.has(line) ? 'again' : 'first';
    set.delete(line);
    if (outcome !== 'hit') {
      this.fetch(line, set);
    }
    set.set(line, address.isWrite || wasWritten === true);
    this.touches.push({ statement, instance, access: address.access, line, outcome });
  }

  private fetch(line: number, set: Map<number, boolean>): void {
    const oldest = set.size >= this.ways ? set.entries().next().value : undefined;
    if (oldest !== undefined) {
      set.delete(oldest[0]);
      this.stays.get(oldest[0])?.push(this.touches.length);
      this.writtenBack += Number(oldest[1]);
    }
    const stay = this.stays.get(line) ?? [];
    stay.push(this.touches.length);
    this.stays.set(line, stay);
  }

  /** How many lines were written back in all: what is still there and changed goes back in the end. */
  finish(): number {
    return this.sets.reduce((sum, set) => sum + [...set.values()].filter(Boolean).length, this.writtenBack);
  }
}

/** Whether a line is in the cache after so many touches. */
export function isThere(run: Run, line: number, touches: number): boolean {
  const stay = run.stays.get(line) ?? [];
  return stay.filter(at => at < touches).length % 2 === 1;
}

/** How often each outcome occurs among touches `from` to `to`. */
export function count(run: Run, from: number, to: number): Readonly<Record<Outcome, number>> {
  const found = { hit: 0, first: 0, again: 0 };
  for (let place = from; place < to; place += 1) {
    found[run.touches[place]!.outcome] += 1;
  }
  return found;
}

const known = new WeakMap<Ordering, Map<string, Totals>>();

/** What an order costs in a cache, and how many steps it takes with a processor for each parallel iteration. */
export function totalsOf(model: Model, ordering: Ordering, cache: CacheShape): Totals {
  const key = `${cache.bytes} ${cache.line} ${cache.ways}`;
  const own = known.get(ordering) ?? new Map<string, Totals>();
  known.set(ordering, own);
  const found = own.get(key) ?? newTotals(model, ordering, cache);
  own.set(key, found);
  return found;
}

function newTotals(model: Model, ordering: Ordering, cache: CacheShape): Totals {
  const moments = momentsOf(model, ordering, false);
  const run = simulate(model, moments, cache);
  const { hit, first, again } = count(run, 0, run.touches.length);
  return {
    accesses: run.touches.length,
    hits: hit,
    first,
    again,
    writtenBack: run.writtenBack,
    bytes: (first + again + run.writtenBack) * cache.line,
    instances: moments.reduce((sum, moment) => sum + moment.length, 0),
    steps: momentsOf(model, ordering, true).length
  };
}

/** Bytes for people: whole up to a kibibyte, then with a unit. */
export function bytesText(bytes: number): string {
  const units = [[1 << 20, 'MiB'], [1 << 10, 'KiB']] as const;
  const [scale, unit] = units.find(([least]) => bytes >= least) ?? [1, 'B'];
  return `${Number((bytes / scale).toPrecision(3))} ${unit}`;
}

export function cacheText(cache: CacheShape): string {
  const ways = cache.ways === 0 ? 'fully associative' : cache.ways === 1 ? 'direct mapped' : `${cache.ways} ways`;
  return `${bytesText(cache.bytes)}, lines of ${cache.line} bytes, ${ways}`;
}
