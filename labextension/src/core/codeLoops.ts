/** Which loops of the schedule the `for` lines of the generated program are. */

import { loopsOf } from './loops';
import type { Program, Variant } from './model';

/** A `for` line: the statements inside it, and the loop that it is, empty where the program has others than the tree. */
export interface CodeLoop {
  readonly loop: string;
  readonly statements: readonly string[];
}

interface Open {
  readonly line: number;
  readonly indent: number;
}

/** The `for` lines by number. A program may leave out loops of one iteration, or cut one into several. */
export function codeLoops(program: Program, variant: Variant): ReadonlyMap<number, CodeLoop> {
  const around = new Map<string, readonly number[][]>();
  const inside = new Map<number, string[]>();
  let open: readonly Open[] = [];
  program.text.split('\n').forEach((text, place) => {
    const line = place + 1;
    const indent = text.search(/\S/);
    if (indent < 0) {
      return;
    }
    open = open.filter(one => one.indent < indent);
    const statement = program.lines.get(line);
    if (statement !== undefined) {
      const lines = open.map(one => one.line);
      lines.forEach(one => inside.set(one, [...(inside.get(one) ?? []), statement]));
      around.set(statement, [...(around.get(statement) ?? []), lines]);
    }
    if (/^\s*for\b/.test(text)) {
      open = [...open, { line, indent }];
    }
  });
  const loops = loopsOf(variant);
  const found = new Map<number, CodeLoop>();
  for (const [line, all] of inside) {
    const statements = [...new Set(all)];
    const names = statements.map(name => {
      const own = loops.filter(loop => loop.statements.includes(name));
      const nests = around.get(name) ?? [];
      // Only where both have equally many loops around the statement, each is the one at its depth.
      const [nest] = nests;
      return nest !== undefined && nests.length === 1 && nest.length === own.length ? (own[nest.indexOf(line)]?.id ?? '') : '';
    });
    // A line is one loop for all: what a statement with another number of loops does not tell, the others may.
    const told = [...new Set(names)].filter(name => name !== '');
    found.set(line, { loop: told.length === 1 ? (told[0] ?? '') : '', statements });
  }
  return found;
}
