/** What stands below the picture of the domain: what its signs and axes mean, and what of the instances is drawn. */

import type { Pane } from './clouds';
import { element, shape } from './dom';
import type { Model, Statement } from './model';
import { markerOf, markerPath } from './palette';

/** The signs of statements that share a picture, and axes with a name in place of their functions. */
export function keyOf(model: Model, panes: readonly Pane[]): HTMLElement | null {
  const shared = panes.filter(pane => pane.statements.length > 1 && pane.axes.length > 1);
  const statements = shared.flatMap(pane => pane.statements.map(number => sign(number, model.statements[number]?.name ?? '')));
  const axes = panes.flatMap(pane => pane.axes.filter(axis => axis.meaning !== ''));
  const meanings = axes.map(axis => element('p', { class: 'polyviz-muted' }, element('code', {}, axis.label), ' is ', element('code', {}, axis.meaning)));
  if (statements.length === 0 && meanings.length === 0) {
    return null;
  }
  return element('div', {}, element('div', { class: 'polyviz-row' }, ...statements), ...meanings);
}

function sign(number: number, name: string): HTMLElement {
  const mark = shape('path', { d: markerPath(markerOf(number), 7, 7, 4), class: 'polyviz-point' });
  return element('span', { class: 'polyviz-key' }, shape('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, mark), name);
}

/** A sentence for each way in which only a part of a statement's instances is drawn. */
export function partsDrawn(model: Model): readonly string[] {
  const names = new Map<string, string[]>();
  for (const statement of model.statements) {
    const part = partOf(statement);
    if (part !== '') {
      names.set(part, [...(names.get(part) ?? []), statement.name]);
    }
  }
  return [...names].map(([part, own]) => `${own.join(', ')}: ${part}.`);
}

function partOf({ points, total, notes }: Statement): string {
  if (points.length === total || (total === null && points.length === 0)) {
    return notes.join('; ');
  }
  const all = total === null ? 'very many' : grouped(total);
  return `drawn are ${grouped(points.length)} of ${all} iterations${notes.length > 0 ? `: ${notes.join('; ')}` : ''}`;
}

/** A number with its thousands apart. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
