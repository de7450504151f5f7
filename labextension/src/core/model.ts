/** The model of the linked views, version 1: what `polyviz/views/linked_schema.py` describes. */

import type { Device } from './device';

export const VERSION = 1;

export type Point = readonly number[];

export interface Parameter {
  readonly name: string;
  readonly source: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** The size of the arguments; null where they are not known. */
  readonly given: number | null;
}

/** A reference to an array: per dimension the coefficients of the iterators and the constant, null where unknown. */
export interface Access {
  readonly array: string;
  readonly kind: string;
  readonly text: string;
  readonly subscripts: readonly Point[] | null;
  /** The cells are known, but only data decide whether it happens. */
  readonly isConditional: boolean;
}

export interface ArrayShape {
  readonly name: string;
  readonly extents: Point | null;
  readonly elementBytes: number;
}

export interface Statement {
  readonly name: string;
  readonly iterators: readonly string[];
  readonly domain: string;
  readonly source: string;
  readonly line: number;
  readonly endLine: number;
  readonly loopLines: readonly number[];
  readonly accesses: readonly Access[];
  readonly points: readonly Point[];
  readonly total: number | null;
  readonly notes: readonly string[];
}

export interface Relation {
  readonly kind: string;
  readonly array: string;
  readonly source: string;
  readonly sink: string;
  readonly distances: readonly string[];
  readonly relation: string;
  readonly count: number | null;
  readonly pairs: readonly Point[];
}

export interface Member {
  readonly rows: ReadonlyMap<string, string>;
  readonly coincident: boolean;
  readonly reductionParallel: boolean;
  readonly role: string;
  readonly time: number;
  readonly address: string;
}

export interface TreeNode {
  readonly kind: string;
  readonly label: string;
  readonly statements: readonly string[];
  readonly members: readonly Member[];
  readonly permutable: boolean;
  readonly time: number;
  readonly children: readonly TreeNode[];
}

export interface Decision {
  readonly step: string;
  readonly text: string;
  readonly statements: readonly string[];
}

export interface Program {
  readonly target: string;
  readonly text: string;
  readonly lines: ReadonlyMap<number, string>;
  readonly notes: readonly string[];
}

/** What the program for `target` makes of a schedule. */
export interface Mapping {
  readonly target: string;
  readonly decisions: readonly Decision[];
  /** The generated text; empty where there was no room for it. */
  readonly text: string;
}

/** A tree with the time of every drawn instance. */
export interface Ordering {
  readonly tree: TreeNode;
  readonly times: ReadonlyMap<string, readonly Point[]>;
}

/** A sentence, with the pair of instances that it is about where there is one. */
export interface Sentence {
  readonly text: string;
  readonly violation: Violation | null;
}

/** Why a loop of a schedule is parallel or not; `isFree` where it could be, whatever the schedule does with it. */
export interface Verdict extends Sentence {
  readonly isFree: boolean;
}

/** Why a loop, or statements where `address` is empty, are what they are with respect to `topic`. */
export interface Reason extends Sentence {
  readonly topic: string;
  readonly address: string;
  readonly statements: readonly string[];
}

export interface Variant extends Ordering {
  readonly name: string;
  readonly decisions: readonly Decision[];
  /** Whether each loop is parallel and why, in the order of `loopsOf`. */
  readonly loops: readonly Verdict[];
  /** Null until somebody asked. */
  readonly reasons: readonly Reason[] | null;
  readonly carried: readonly Point[];
  /** The order to the letter, for reading. */
  readonly program: Program | null;
  /** What the compiled program does beyond the schedule; null until somebody asked. */
  readonly mapping: Mapping | null;
  readonly superposition: Superposition | null;
  /** The kernels of a device; null until somebody asked for them. */
  readonly device: Device | null;
  readonly notes: readonly string[];
}

/** One dimension of the order of blocks or of threads; `axis` where it is a coordinate instead of time. */
export interface Dimension {
  readonly text: string;
  readonly kind: string;
  readonly axis: string;
  readonly tile: number | null;
  readonly isReduction: boolean;
}

export interface SpaceGroup {
  readonly statements: readonly string[];
  readonly loops: readonly { readonly axis: string; readonly kind: string; readonly rows: ReadonlyMap<string, string> }[];
  readonly text: string;
}

export interface Barrier {
  readonly before: number;
  readonly after: number;
  readonly wraps: boolean;
  readonly protects: string;
}

export interface SuperposedKernel {
  readonly number: number;
  readonly blocks: SpaceGroup;
  readonly phases: readonly SpaceGroup[];
  readonly barriers: readonly Barrier[];
  readonly tiles: ReadonlyMap<string, number>;
  readonly threads: ReadonlyMap<string, number>;
}

/** Blocks and threads with orders of their own. */
export interface Superposition {
  readonly functions: readonly {
    readonly statement: string;
    readonly outer: readonly Dimension[];
    readonly regular: readonly Dimension[];
    readonly text: string;
  }[];
  readonly kernels: readonly SuperposedKernel[];
  readonly conditions: readonly { readonly name: string; readonly asks: string; readonly holds: boolean; readonly witness: string }[];
}

export interface Violation {
  readonly kind: string;
  readonly array: string;
  readonly source: string;
  readonly sourceInstance: Point;
  readonly sink: string;
  readonly sinkInstance: Point;
  readonly explanation: string;
}

export interface SourceLoop {
  readonly loop: string;
  readonly depth: number;
  readonly statements: readonly string[];
  readonly parallel: boolean;
  readonly reductionParallel: boolean;
  readonly explanation: string;
  readonly witness: Violation | null;
}

export interface ComparisonRow {
  readonly label: string;
  readonly status: string;
  readonly verified: boolean | null;
  readonly median: number | null;
  readonly interval: Point | null;
  readonly speedup: number | null;
  readonly speedupInterval: Point | null;
  readonly note: string;
  readonly isBaseline: boolean;
}

/** What the machine allows for the work of one call: rates per second, the least time in seconds. */
export interface Roofline {
  readonly operations: number;
  readonly bytes: number;
  readonly peak: number;
  readonly memory: number;
  readonly cache: number;
  readonly limit: number;
  readonly bottleneck: string;
  readonly dtype: string;
}

/** A candidate of a search for better options. */
export interface Trial {
  readonly name: string;
  readonly status: string;
  readonly speedup: number | null;
  readonly elapsed: number;
  readonly note: string;
  readonly isBest: boolean;
}

export interface Tuning {
  readonly title: string;
  readonly outcome: string;
  readonly trials: readonly Trial[];
}

export interface Comparison {
  readonly rows: readonly ComparisonRow[];
  readonly baseline: string;
  readonly best: string;
  readonly verdict: string;
  readonly machine: string;
  readonly notes: readonly string[];
  readonly roofline: Roofline | null;
}

export interface Step {
  readonly text: string;
  readonly decision: string;
}

/** The history of the variant that was edited by hand. */
export interface Edit {
  readonly variant: string;
  readonly start: string;
  readonly steps: readonly Step[];
  readonly undone: number;
  readonly script: string;
  readonly python: string;
}

/** Moves of an earlier kernel that could not be made again. */
export interface Lost {
  readonly script: string;
  readonly problem: string;
}

/** A move at one place of the tree; `legal` or not, with the reason. */
export interface Choice {
  /** Which move of its menu it is, where the kernel tells it: one that comes later stands for the one before. */
  readonly place: number | null;
  readonly move: string;
  readonly label: string;
  readonly at: string | null;
  /** Null until it is known. */
  readonly effect: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly legal: boolean;
  readonly reason: string;
  readonly violation: Violation | null;
  /** The order that a legal move leads to, where the kernel tells it. */
  readonly after: Ordering | null;
}

export interface Refusal {
  readonly name: string;
  readonly reason: string;
}

export interface Model {
  readonly name: string;
  readonly text: string;
  readonly context: string;
  readonly parameters: readonly Parameter[];
  readonly arrays: readonly ArrayShape[];
  readonly statements: readonly Statement[];
  readonly relations: readonly Relation[];
  readonly variants: readonly Variant[];
  readonly refusals: readonly Refusal[];
  readonly loops: readonly SourceLoop[];
  readonly comparison: Comparison | null;
  readonly edit: Edit | null;
  readonly lost: Lost | null;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly shortened: boolean;
}
