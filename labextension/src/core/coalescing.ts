/** How the accesses of neighbouring threads lie in memory: in one transaction, or in one for each thread. */

import type { Access, Dimension, Model, Statement, Superposition } from './model';

export const WARP = 32;
/** The smallest piece of memory that is moved, in bytes. */
const SECTOR = 32;

/** An access, and how many elements it moves from one thread to the next; null where that is a row or more. */
export interface Motion {
  readonly statement: string;
  readonly kind: string;
  readonly text: string;
  readonly elementBytes: number;
  readonly step: number | null;
  readonly motion: string;
}

/** The accesses of all statements whose threads along x run over one loop; the others cannot be judged here. */
export function accessMotions(model: Model, found: Superposition): readonly Motion[] {
  return found.functions.flatMap(one => {
    const statement = model.statements.find(other => other.name === one.statement);
    const along = [...one.regular, ...one.outer].find(dimension => dimension.axis === 'x');
    const place = statement === undefined || along === undefined ? -1 : statement.iterators.indexOf(plain(along));
    return statement === undefined || place < 0 ? [] : statement.accesses.flatMap(access => motionOf(model, statement, access, place));
  });
}

function plain(dimension: Dimension): string {
  return dimension.text.replace(/_x$/, '').replace(/^floor\((.*)\/\d+\)$/, '$1');
}

function motionOf(model: Model, statement: Statement, access: Access, place: number): readonly Motion[] {
  if (access.subscripts === null || access.subscripts.length === 0) {
    return [];
  }
  const steps = access.subscripts.map(row => row[place] ?? 0);
  const last = steps.at(-1) ?? 0;
  const isInRow = steps.slice(0, -1).every(step => step === 0);
  const step = isInRow ? Math.abs(last) : null;
  const elementBytes = model.arrays.find(array => array.name === access.array)?.elementBytes ?? 8;
  return [{ statement: statement.name, kind: access.kind, text: access.text, elementBytes, step, motion: motionText(step) }];
}

function motionText(step: number | null): string {
  if (step === null) {
    return 'in another row';
  }
  return step === 0 ? 'the same element' : step === 1 ? 'the next element' : `${step} elements further`;
}

/** Pieces of memory that a warp of threads along x asks for with one access. */
export function sectorsOf(motion: Motion): number {
  const { step, elementBytes } = motion;
  if (step === null) {
    return WARP;
  }
  return Math.min(WARP, Math.ceil((step * (WARP - 1) * elementBytes + elementBytes) / SECTOR));
}

export function warpTransactions(motion: Motion): string {
  const sectors = sectorsOf(motion);
  const least = motion.step === 0 ? 1 : Math.ceil((WARP * motion.elementBytes) / SECTOR);
  const verdict = sectors <= least ? 'as few as can be' : `${(sectors / least).toPrecision(2)} times as many as side by side`;
  return `${sectors} × ${SECTOR} bytes, ${verdict}`;
}
