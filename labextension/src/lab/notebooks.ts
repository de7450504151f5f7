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
    readonly node: HTMLElement;
    readonly widgets: readonly Cell[];
    readonly activeCell: Cell | null;
    activeCellIndex: number;
    readonly activeCellChanged: ISignal<unknown, unknown>;
    readonly rendermime: Others & {
      addFactory(factory: { safe: boolean; mimeTypes: string[]; createRenderer: () => PolyvizRenderer }, rank: number): void;
    };
    readonly modelContentChanged: ISignal<unknown, unknown>;
    scrollToItem?(place: number): Promise<void>;
  };
  readonly sessionContext: {
    readonly statusChanged: ISignal<unknown, string>;
    readonly session: { readonly kernel: Kernel | null } | null;
  };
}

/** What is asked of a kernel. */
export interface Kernel {
  readonly status: string;
  requestExecute(content: {
    code: string;
    silent: boolean;
    store_history: boolean;
    user_expressions: Record<string, string>;
  }): { readonly done: Promise<{ readonly content: unknown }> };
}

export function isNotebook(widget: Widget | null): widget is NotebookPanel {
  const content = (widget as Partial<NotebookPanel> | null)?.content;
  return content !== undefined && Array.isArray(content.widgets) && content.activeCellChanged !== undefined;
}

const KNOWN = "'polyopt' in get_ipython().magics_manager.magics['cell']";

/** Whether the extension is loaded in this kernel: in a new one it is not, and the arrays are not there either. */
export async function knowsMagic(kernel: Kernel | null): Promise<boolean> {
  if (kernel === null) {
    return false;
  }
  const asked = { code: '', silent: true, store_history: false, user_expressions: { known: KNOWN } };
  const reply = await kernel.requestExecute(asked).done.catch(() => null);
  const found = fieldsOf(fieldsOf(fieldsOf(reply?.content)['user_expressions'])['known']);
  return textOf(fieldsOf(found['data'])['text/plain']) === 'True';
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
  return cells.flatMap((cell, number) => shownBy(cell).map(value => sessionOf(number, value)));
}

export function shownBy(cell: Cell): readonly unknown[] {
  const { outputs } = cell.model;
  const all = outputs === undefined ? [] : Array.from({ length: outputs.length }, (_, place) => outputs.get(place).data[MIME]);
  return all.filter(value => fieldsOf(value)['kind'] === 'inspector');
}

function sessionOf(number: number, value: unknown): Session {
  const fields = fieldsOf(value);
  const variants = listOf(fields['variants'], one => textOf(fieldsOf(one)['name']));
  const best = textOf(fieldsOf(fields['comparison'])['best']);
  const steps = listOf(fieldsOf(fields['edit'])['steps'], one => one).length;
  const facts = [`schedules ${variants.join(', ')}`, ...(steps > 0 ? [`${steps} ${steps === 1 ? 'move' : 'moves'} by hand`] : []), ...(best === '' ? [] : [`fastest ${best}`])];
  return { cell: number, name: textOf(fields['name']) || 'loops', facts: facts.join('; '), value };
}
