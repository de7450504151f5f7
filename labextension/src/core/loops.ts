/** The loops of a schedule tree as a flat list, and what each of them means for instances and dependences. */

import type { Member, Model, Relation, TreeNode, Variant, Verdict } from './model';
import { INPUT } from './palette';

export interface Loop {
  /** Unique in the tree: the position of its band, and its own in the band. */
  readonly id: string;
  readonly member: Member;
  readonly statements: readonly string[];
  readonly depth: number;
}

/** All loops in depth-first order. */
export function loopsOf(variant: Pick<Variant, 'tree'>): readonly Loop[] {
  const found: Loop[] = [];
  collect(variant.tree, '0', 0, found);
  return found;
}

function collect(node: TreeNode, path: string, depth: number, found: Loop[]): void {
  node.members.forEach((member, place) => {
    found.push({ id: loopId(path, place), member, statements: node.statements, depth: depth + place });
  });
  node.children.forEach((child, place) =>
    collect(child, `${path}.${place}`, depth + node.members.length, found)
  );
}

export function loopId(path: string, member: number): string {
  return `${path}:${member}`;
}

/** The functions of a loop; statements with the same one share it. */
export function rowText(member: Member): string {
  const names = new Map<string, string[]>();
  for (const [statement, written] of member.rows) {
    const row = written.replace(/\(\((\w+)\)\//g, '($1/');
    names.set(row, [...(names.get(row) ?? []), statement]);
  }
  if (names.size === 1) {
    return [...names.keys()][0] ?? '';
  }
  return [...names].map(([row, statements]) => `${named(statements)}: ${row}`).join('; ');
}

/** Many statements are named by the first and the last: the views light all of them anyway. */
function named(statements: readonly string[]): string {
  return statements.length <= 3 ? statements.join(', ') : `${statements[0]} … ${statements.at(-1)}`;
}

/** What a loop is in its tree, how it runs, and whether it could run otherwise. */
export function flagsOf(member: Member, verdict?: Verdict): readonly string[] {
  const role = member.role === 'tile' || member.role === 'point' ? [member.role] : [];
  if (member.coincident) {
    return [...role, 'parallel'];
  }
  const free = verdict?.isFree === true ? ['could be parallel'] : [];
  return [...role, member.reductionParallel ? 'parallel reduction' : 'in order', ...free];
}

/**
 * What the scheduler said when it decided on a loop: the entry with its row where there is one, else the last that is
 * about all of its statements, as of a move that was made by hand.
 */
export function decisionOf(variant: Variant, loop: Loop): string {
  const about = variant.decisions.filter(one => one.step !== 'loop' && loop.statements.every(name => one.statements.includes(name)));
  const rows = [...loop.member.rows].map(([statement, row]) => `${statement}: ${row}`);
  const own = about.filter(one => one.step === 'row' && rows.every(row => isEntry(one.text, row)));
  return (own.at(-1) ?? about.filter(one => one.step !== 'row').at(-1))?.text ?? '';
}

/** Whether a list in `text` has `row` as one of its entries, and not as the beginning of another one. */
function isEntry(text: string, row: string): boolean {
  return text.includes(`${row},`) || text.includes(`${row}.`);
}

/** Whether `loop` carries the relation with this number: whether its order is what keeps source before sink. */
export function carries(loop: Loop, variant: Variant, model: Model, relation: number): boolean {
  const found = model.relations[relation];
  const dimensions = variant.carried[relation] ?? [];
  return found !== undefined && isInside(loop, found) && dimensions.includes(loop.member.time);
}

function isInside(loop: Loop, relation: Relation): boolean {
  return loop.statements.includes(relation.source) && loop.statements.includes(relation.sink);
}

/** What carries a relation, in words: loops, or the order of statements. */
export function carriersText(model: Model, variant: Variant, relation: number): string {
  const loops = loopsOf(variant).filter(loop => carries(loop, variant, model, relation));
  const dimensions = variant.carried[relation] ?? [];
  const rows = loopNames(loops);
  const covered = new Set(loops.map(loop => loop.member.time));
  const rest = dimensions.some(dimension => !covered.has(dimension)) ? ['the order of statements'] : [];
  return [...rows, ...rest].join(', ') || '–';
}

/** Loops in words, by the names of the tree; the parts of a loop that was split may have one name. */
export function loopNames(loops: readonly Loop[]): readonly string[] {
  return [...new Set(loops.map(({ member }) => `loop ${member.address || rowText(member)}`))];
}

/** What the analysis says of a loop, as a sentence; a name that begins one stays as the program has it. */
export function capitalised(text: string): string {
  return /^(loop|iteration)\b/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** One sentence: why a loop is, or is not, parallel. What only private variables seem to tie is no reason. */
export function whyOf(model: Model, variant: Variant, loop: Loop): string {
  const carried = model.relations.filter((one, number) => one.kind !== INPUT && carries(loop, variant, model, number));
  const isFree = loop.member.coincident && carried.length > 0;
  const names = [...new Set(carried.map(one => one.array))].join(', ');
  const copies = isFree ? ` Every iteration gets ${names} for itself: what seems to tie them goes through private copies.` : '';
  const known = verdictOf(variant, loop.id);
  return (known?.text || flagText(loop)) + copies;
}

/** What was found out about the loop with this name in the tree. */
export function verdictOf(variant: Variant, id: string): Verdict | undefined {
  return variant.loops[loopsOf(variant).findIndex(one => one.id === id)];
}

/** What the flags alone tell, for a view that was saved without sentences. */
function flagText({ member }: Loop): string {
  const verdict = member.coincident ? 'parallel' : member.reductionParallel ? 'parallel as a reduction' : 'not parallel';
  return `Loop ${rowText(member)} is ${verdict}.`;
}
