/** The model of the linked views, version 1: what `polyviz/views/linked_schema.py` describes. */

export const VERSION = 1;

export type Point = readonly number[];

export interface Parameter {
  readonly name: string;
  readonly source: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Statement {
  readonly name: string;
  readonly iterators: readonly string[];
  readonly domain: string;
  readonly source: string;
  readonly line: number;
  readonly endLine: number;
  readonly loopLines: readonly number[];
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

export interface Variant {
  readonly name: string;
  readonly tree: TreeNode;
  readonly decisions: readonly Decision[];
  readonly times: ReadonlyMap<string, readonly Point[]>;
  readonly carried: readonly Point[];
  readonly program: Program | null;
  readonly notes: readonly string[];
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

export interface Comparison {
  readonly rows: readonly ComparisonRow[];
  readonly baseline: string;
  readonly best: string;
  readonly verdict: string;
  readonly machine: string;
  readonly notes: readonly string[];
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

/** A move at one place of the tree; `legal` or not, with the reason. */
export interface Choice {
  readonly move: string;
  readonly label: string;
  readonly at: string | null;
  readonly effect: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly legal: boolean;
  readonly reason: string;
  readonly violation: Violation | null;
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
  readonly statements: readonly Statement[];
  readonly relations: readonly Relation[];
  readonly variants: readonly Variant[];
  readonly refusals: readonly Refusal[];
  readonly loops: readonly SourceLoop[];
  readonly comparison: Comparison | null;
  readonly edit: Edit | null;
  readonly notes: readonly string[];
  readonly shortened: boolean;
}
