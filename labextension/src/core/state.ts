/** What the reader has chosen; views listen to it and redraw only what depends on what changed. */

import { usualCache, type CacheShape } from './cache';
import type { Choice, Model, Variant } from './model';
import type { Moment } from './order';
import { INPUT } from './palette';
import { instanceNumber, lightOf, NOTHING, type Light, type Selection } from './selection';

export type Space = 'source' | 'schedule';

/** The event that tells what is selected in the views; its detail is `Picked`. */
export const SELECTED = 'polyviz-selected';

/** A selection in the schedule `variant` of the loops with this `text`. */
export interface Picked {
  readonly text: string;
  readonly variant: string;
  readonly selection: Selection;
}

/** Parts of the state a view may depend on; 'order' beside 'variant' where other instances run, or in another order, than before. */
export type Change = 'model' | 'variant' | 'order' | 'selection' | 'filter' | 'space' | 'moment' | 'cache' | 'choices' | 'busy';

/** What a live kernel can be asked for; absent in a saved notebook. */
export interface Host {
  ask(question: Question): void;
}

export type Question =
  | { readonly ask: 'schedule'; readonly name: string }
  | { readonly ask: 'values'; readonly values: Readonly<Record<string, number>> }
  | { readonly ask: 'choices'; readonly variant: string; readonly address: string; readonly number: number }
  | {
      readonly ask: 'apply';
      readonly variant: string;
      readonly at: string | null;
      readonly move: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly ask: 'moves'; readonly variant: string }
  | { readonly ask: 'replay'; readonly schedules: readonly string[]; readonly script: string; readonly undone: number }
  | { readonly ask: 'history'; readonly position: number }
  | { readonly ask: 'why'; readonly variant: string }
  | { readonly ask: 'measure' }
  | { readonly ask: 'device'; readonly variant: string }
  | { readonly ask: 'emulate'; readonly variant: string }
  | { readonly ask: 'run' }
  | { readonly ask: 'cancel' };

/** The moves at one place, asked for under a `number`; more of them may still be found while it is not `isComplete`. */
export interface Menu {
  readonly number: number;
  readonly address: string;
  readonly choices: readonly Choice[];
  readonly isComplete: boolean;
}

export class State {
  model: Model;
  host: Host | null;
  schedulers: readonly string[] = [];
  variantNumber = 0;
  selection: Selection = NOTHING;
  hiddenKinds: ReadonlySet<string> = new Set([INPUT]);
  hiddenArrays: ReadonlySet<string> = new Set();
  space: Space = 'source';
  /** The steps of the execution, and the one that is shown; -1 before the first, when nothing is lit. */
  moments: readonly Moment[] = [];
  position = -1;
  moment: ReadonlySet<string> | null = null;
  past: ReadonlySet<string> = new Set();
  /** Whether the steps are those of a device: the threads of a warp together. */
  onDevice = false;
  menu: Menu | null = null;
  canRun = false;
  busy = '';
  problem = '';
  /** What the kernel has done that nobody pressed a button for. */
  said = '';
  private menus = 0;
  private askedDevice = '';
  private chosenCache: CacheShape | null = null;
  private known: Light | null = null;
  private readonly listeners: { readonly changes: readonly Change[]; readonly act: (told: readonly Change[]) => void }[] = [];

  constructor(model: Model, host: Host | null) {
    this.model = model;
    this.host = host;
  }

  get variant(): Variant | undefined {
    return this.model.variants[this.variantNumber];
  }

  get light(): Light {
    const variant = this.variant ?? EMPTY;
    this.known ??= lightOf(this.model, variant, this.selection, this.hiddenKinds);
    return this.known;
  }

  /** The cache that is simulated: one that suits the arrays until another is chosen. */
  get cache(): CacheShape {
    return this.chosenCache ?? usualCache(this.model);
  }

  set cache(cache: CacheShape) {
    this.chosenCache = cache;
    this.tell('cache');
  }

  /** Have `act` called once whenever some of `changes` are told of, with all that is told. */
  on(changes: readonly Change[], act: (told: readonly Change[]) => void): void {
    this.listeners.push({ changes, act });
  }

  tell(...changes: readonly Change[]): void {
    this.known = null;
    for (const listener of this.listeners) {
      if (listener.changes.some(change => changes.includes(change))) {
        listener.act(changes);
      }
    }
  }

  select(selection: Selection): void {
    this.selection = selection;
    this.tell('selection');
  }

  choose(variantNumber: number): void {
    this.variantNumber = variantNumber;
    this.selection = NOTHING;
    this.menu = null;
    this.tell('variant', 'order', 'selection', 'choices');
  }

  /** Open an empty menu at a loop, and ask for the moves there. */
  openMenu(address: string): void {
    this.menus += 1;
    this.menu = { number: this.menus, address, choices: [], isComplete: false };
    this.tell('choices');
    this.ask({ ask: 'choices', variant: this.variant?.name ?? '', address, number: this.menus }, 'looking for moves');
  }

  /** Have the shown schedule mapped to a device: once for each order, since it takes a while. */
  askForDevice(): void {
    const { variant, model } = this;
    if (this.host === null || variant === undefined || variant.device !== null) {
      return;
    }
    const moves = variant.name === model.edit?.variant ? model.edit.script : '';
    const order = `${variant.name} ${moves}`;
    if (this.askedDevice !== order) {
      this.askedDevice = order;
      this.ask({ ask: 'device', variant: variant.name }, `mapping ${variant.name} to blocks and threads`);
    }
  }

  ask(question: Question, busy: string): void {
    this.busy = busy;
    this.problem = this.said = '';
    this.tell('busy');
    this.host?.ask(question);
  }

  report(doing: string): void {
    this.busy = doing;
    this.tell('busy');
  }

  answered(problem = '', said = ''): void {
    this.busy = '';
    this.problem = problem;
    this.said = said;
    this.tell('busy');
  }

  /** A new model of the same loops, with the variant `name` or the one before: what still exists stays selected. */
  replace(model: Model, name = ''): void {
    const before = this.variant;
    const places = [name, before?.name].map(known => model.variants.findIndex(one => one.name === known));
    const number = places.find(place => place >= 0) ?? 0;
    const isSameOrder = orderText(before) === orderText(model.variants[number]);
    const isSameRun = isSameOrder && sizesText(this.model) === sizesText(model);
    this.selection = stillThere(this.selection, this.model, model, isSameOrder);
    this.model = model;
    this.variantNumber = number;
    // Where only more is known of the same schedule, as reasons or kernels that came late, a menu is still true.
    this.menu = isSameRun && before?.name === this.variant?.name ? this.menu : null;
    this.tell('model', 'variant', ...(isSameRun ? [] : ['order' as const]), 'selection', 'choices');
  }
}

/** The tree as text, the functions of its loops among it: a map alone would say nothing of what it holds. */
function orderText(variant: Variant | undefined): string {
  return JSON.stringify(variant?.tree, (_, value: unknown) => (value instanceof Map ? [...value] : value));
}

function sizesText(model: Model): string {
  return JSON.stringify(model.parameters.map(one => [one.name, one.value]));
}

/** The same selection in another model: an iteration is found again by its coordinates, what belongs to an order only in the same one. */
function stillThere(selection: Selection, before: Model, after: Model, isSameOrder: boolean): Selection {
  if (selection.what === 'violation' || selection.what === 'loop') {
    return isSameOrder ? selection : NOTHING;
  }
  if (selection.what !== 'instance') {
    return selection;
  }
  const statement = before.statements[selection.statement];
  const place = statement?.points[selection.instance] ?? [];
  const instance = instanceNumber(after, statement?.name ?? '', place);
  return instance < 0 ? NOTHING : { ...selection, instance };
}

const EMPTY: Variant = {
  name: '',
  tree: { kind: '', label: '', statements: [], members: [], permutable: false, time: -1, children: [] },
  decisions: [],
  loops: [],
  reasons: null,
  times: new Map(),
  carried: [],
  program: null,
  mapping: null,
  superposition: null,
  device: null,
  notes: []
};
