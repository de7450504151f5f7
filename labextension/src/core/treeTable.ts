/** Schedule trees beside each other, node by node, with what differs from the first one marked. */

import { alignedRows } from './align';
import { element } from './dom';
import { flagsOf, loopId, rowText, verdictOf } from './loops';
import type { TreeNode, Variant } from './model';

type Kind = 'loop' | 'order' | 'statement';

/** A node as it is shown: a loop, the order of what follows one after the other, or a statement. */
interface Entry {
  readonly kind: Kind;
  readonly text: string;
  readonly flags: readonly string[];
  readonly statements: readonly string[];
  readonly depth: number;
}

const NAMES: Readonly<Record<Kind, string>> = { loop: 'loop', order: 'in order', statement: 'statement' };

/** One row per node. */
export function treeRows(variants: readonly Variant[]): readonly HTMLElement[] {
  const trees = variants.map(one => entriesOf(one, one.tree, '0', 0));
  return alignedRows(trees, likeness).map(places => {
    const entries = places.map((place, column) => (place === null ? undefined : trees[column]?.[place]));
    const first = entries[0];
    const kind = entries.find(one => one !== undefined)?.kind ?? 'loop';
    const cells = entries.map((entry, column) => cell(entry, column > 0 && shown(entry) !== shown(first)));
    return element('tr', {}, element('th', { scope: 'row', class: 'polyviz-kind' }, NAMES[kind]), ...cells);
  });
}

function entriesOf(variant: Variant, node: TreeNode, path: string, depth: number): readonly Entry[] {
  const { statements } = node;
  const loops = node.members.map(
    (member, place): Entry => {
      const flags = flagsOf(member, verdictOf(variant, loopId(path, place)));
      return { kind: 'loop', text: rowText(member), flags, statements, depth: depth + place };
    }
  );
  const inside = depth + loops.length;
  const below = (more: number): readonly Entry[] =>
    node.children.flatMap((child, place) => entriesOf(variant, child, `${path}.${place}`, inside + more));
  if (node.children.length === 0) {
    const leaves = statements.map((name): Entry => ({ kind: 'statement', text: name, flags: [], statements: [name], depth: inside }));
    return [...loops, ...leaves];
  }
  if (node.kind !== 'sequence' && node.kind !== 'set') {
    return [...loops, ...below(0)];
  }
  const parts = node.children.map(child => named(child.statements)).join(', then ');
  const order: Entry = { kind: 'order', text: parts, flags: [], statements, depth: inside };
  return [...loops, order, ...below(1)];
}

function named(statements: readonly string[]): string {
  return statements.length <= 3 ? statements.join(' + ') : `${statements[0]} + … + ${statements.at(-1)}`;
}

/** Nodes of one kind that share statements are alike, the more the better; loops over the same values are more so. */
function likeness(left: Entry, right: Entry): number {
  const common = left.statements.filter(name => right.statements.includes(name)).length;
  if (left.kind !== right.kind || common === 0) {
    return 0;
  }
  const share = common / (left.statements.length + right.statements.length - common);
  if (left.kind === 'statement') {
    return share === 1 ? 4 : 0;
  }
  return share + (left.kind === 'loop' && left.text === right.text ? 2 : 0);
}

function shown(entry: Entry | undefined): string {
  return entry === undefined ? '' : [entry.text, ...entry.flags].join(' ');
}

function cell(entry: Entry | undefined, isOther: boolean): HTMLElement {
  const sign = isOther ? element('span', { class: 'polyviz-differs', title: 'differs from the first schedule' }, '≠ ') : null;
  if (entry === undefined) {
    return element('td', {}, sign, '–');
  }
  const flags = entry.flags.flatMap(flag => [element('span', { class: 'polyviz-badge' }, flag), ' ']);
  const text = entry.kind === 'order' ? element('span', { class: 'polyviz-muted' }, entry.text) : element('code', {}, entry.text);
  const made = element('td', {}, sign, text, ' ', ...flags);
  made.style.paddingInlineStart = `${4 + 14 * Math.min(entry.depth, 12)}px`;
  return made;
}
