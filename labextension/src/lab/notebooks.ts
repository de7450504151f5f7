/** What is used of a notebook and its cells; the notebook package itself is not needed for it. */

import type { ISignal } from '@lumino/signaling';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import { fieldsOf, listOf, textOf } from '../core/values';
import type { Others, PolyvizRenderer } from './renderer';
import { MIME } from './renderer';

interface Outputs {
  readonly length: number;
  get(place: number): { readonly data: ReadonlyPartialJSONObject };
  readonly changed: ISignal<unknown, unknown>;
}

export interface Cell {
  readonly node: HTMLElement;
  readonly model: {
    readonly type: string;
    readonly sharedModel: { getSource(): string; setSource(text: string): void };
    readonly outputs?: Outputs;
  };
}

export interface NotebookPanel extends Widget {
  readonly content: {
    readonly widgets: readonly Cell[];
    readonly activeCell: Cell | null;
    activeCellIndex: number;
    readonly activeCellChanged: ISignal<unknown, unknown>;
    readonly rendermime: Others & {
      addFactory(factory: { safe: boolean; mimeTypes: string[]; createRenderer: () => PolyvizRenderer }, rank: number): void;
    };
    scrollToItem?(place: number): Promise<void>;
  };
  readonly sessionContext: { readonly statusChanged: ISignal<unknown, string> };
}

export function isNotebook(widget: Widget | null): widget is NotebookPanel {
  const content = (widget as Partial<NotebookPanel> | null)?.content;
  return content !== undefined && Array.isArray(content.widgets) && content.activeCellChanged !== undefined;
}

/** An inspected loop nest of a notebook: the cell that shows it, and the JSON that it shows. */
export interface Session {
  readonly cell: number;
  readonly name: string;
  readonly facts: string;
  readonly value: unknown;
}

/** The sessions of a notebook in the order of its cells. */
export function sessionsOf(cells: readonly Cell[]): readonly Session[] {
  return cells.flatMap((cell, number) => shownBy(cell).map(value => sessionOf(number, cell, value)));
}

function shownBy(cell: Cell): readonly unknown[] {
  const { outputs } = cell.model;
  const all = outputs === undefined ? [] : Array.from({ length: outputs.length }, (_, place) => outputs.get(place).data[MIME]);
  return all.filter(value => fieldsOf(value)['kind'] === 'inspector');
}

function sessionOf(number: number, cell: Cell, value: unknown): Session {
  const fields = fieldsOf(value);
  const variants = listOf(fields['variants'], one => textOf(fieldsOf(one)['name']));
  const best = textOf(fieldsOf(fields['comparison'])['best']);
  const given = /(?:^|\s)--name[= ](\w+)/.exec(cell.model.sharedModel.getSource().split('\n')[0] ?? '')?.[1];
  const steps = listOf(fieldsOf(fields['edit'])['steps'], one => one).length;
  const facts = [`schedules ${variants.join(', ')}`, ...(steps > 0 ? [`${steps} ${steps === 1 ? 'move' : 'moves'} by hand`] : []), ...(best === '' ? [] : [`fastest ${best}`])];
  return { cell: number, name: given ?? (textOf(fields['name']) || 'loops'), facts: facts.join('; '), value };
}
