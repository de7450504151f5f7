/** The linked views of one loop nest, from JSON to elements. */

import { cacheView } from './cacheView';
import { card } from './card';
import { codeView, sourceView } from './sourceView';
import { comparisonView } from './comparisonView';
import { dependenceView } from './dependenceView';
import { deviceTimeView } from './deviceTimeView';
import { domainView } from './domainView';
import { element, folding, items, setAttribute, unfolding } from './dom';
import { gpuView } from './gpuView';
import { headView, statusView } from './headView';
import { historyView } from './historyView';
import type { Choice, Model } from './model';
import type { Moves } from './moves';
import { readChoices, readModel } from './read';
import { NOTHING } from './selection';
import { sideView } from './sideView';
import { SELECTED, State, type Host, type Picked } from './state';
import { STYLE } from './style';
import { timeView } from './timeView';
import { treeView } from './treeView';
import { whyAsked, whyView } from './whyView';

/** What a live kernel offers beside the model. */
export interface Live {
  readonly host: Host;
  readonly schedulers: readonly string[];
  readonly canRun: boolean;
}

const UNDRAWABLE = 'This polyviz view is damaged: its numbers do not fit together. Run the cell again, or save the view again.';

/** The event that tells whoever holds the views that another model is shown; its detail is the JSON. */
export const SHOWN = 'polyviz-shown';

/** The event by which they have moves of an earlier kernel made again; its detail is `Moves`. */
export const REPLAY = 'polyviz-replay';

/** The event that tells them how the static page looks now; its detail has its `html` and its `text`. */
export const PAGE = 'polyviz-page';

/** A drawn inspector: it takes new models of the same loops, and answers of the kernel. */
export class Inspector {
  readonly root: HTMLElement = element('div', { class: 'polyviz' });
  private state: State | null = null;

  constructor(value: unknown, private readonly live: Live | null = null) {
    this.root.addEventListener('focusin', event => keepKeys(event.target as Element, true));
    for (const key of ['keydown', 'keyup'] as const) {
      this.root.addEventListener(key, event => keepKeys(event.target as Element, !event.ctrlKey && !event.metaKey), true);
    }
    this.root.addEventListener(REPLAY, event => {
      const { schedules, script, undone } = (event as CustomEvent<Moves>).detail;
      this.state?.ask({ ask: 'replay', schedules, script, undone }, 'making the moves again');
    });
    this.show(value);
  }

  /** Draw another model, with the variant `name` where it has one; what was selected stays so where it still exists. */
  show(value: unknown, name = ''): void {
    const reading = readModel(value);
    if ('problem' in reading) {
      this.state = null;
      this.root.replaceChildren(styles(), card(reading.problem));
      return;
    }
    if (this.state !== null && this.state.model.text === reading.model.text) {
      this.state.replace(reading.model, name);
      this.root.dispatchEvent(new CustomEvent(SHOWN, { bubbles: true, detail: value }));
      return;
    }
    this.root.replaceChildren(styles(), ...this.drawn(reading.model));
  }

  /** The views of a model; numbers of a damaged file may fit together so badly that there are none. */
  private drawn(model: Model): readonly HTMLElement[] {
    const state = new State(model, this.live?.host ?? null);
    state.schedulers = this.live?.schedulers ?? [];
    state.canRun = this.live?.canRun ?? false;
    // Whoever made moves wants to see where they have come to.
    state.variantNumber = Math.max(0, model.variants.findIndex(one => one.name === model.edit?.variant));
    try {
      const views = layout(state);
      this.state = state;
      state.on(['selection'], () => {
        const detail: Picked = { text: model.text, variant: state.variant?.name ?? '', selection: state.selection };
        this.root.dispatchEvent(new CustomEvent(SELECTED, { bubbles: true, detail }));
      });
      return views;
    } catch (error) {
      console.error('A polyviz view cannot be drawn.', error);
      this.state = null;
      return [card(UNDRAWABLE)];
    }
  }

  /** The kernel has made the static page anew: whoever holds the views keeps it with them. */
  keepPage(html: string, text: string, model: unknown): void {
    if (html !== '') {
      this.root.dispatchEvent(new CustomEvent(PAGE, { bubbles: true, detail: { html, text } }));
    }
    if (model !== undefined) {
      // With reasons that nobody unfolded: the picture here stays as it is.
      this.root.dispatchEvent(new CustomEvent(SHOWN, { bubbles: true, detail: model }));
    }
  }

  /** Show a variant by name, where another one is shown. */
  choose(name: string): void {
    const number = this.state?.model.variants.findIndex(one => one.name === name) ?? -1;
    if (this.state !== null && number >= 0 && number !== this.state.variantNumber) {
      this.state.choose(number);
    }
  }

  /** What the kernel is doing on the way to an answer. */
  report(doing: string): void {
    this.state?.report(doing);
  }

  /** The kernel finished what it was asked for; `problem` says what went wrong. */
  answered(problem = '', said = ''): void {
    this.state?.answered(problem, said);
  }

  /** Moves that the kernel found for the menu with this number; `isComplete` when there are no others. */
  offer(number: number, choices: unknown, isComplete: boolean): void {
    const menu = this.state?.menu ?? null;
    if (this.state !== null && menu?.number === number) {
      this.state.menu = { ...menu, choices: withNews(menu.choices, readChoices(choices)), isComplete };
      this.state.tell('choices');
    }
  }
}

/**
 * Ask JupyterLab to leave the keys to what has the focus: its own arrow keys would fold headings and change cells. With
 * Ctrl or Command they are its own again, or saving the notebook would save the page.
 */
function keepKeys(focused: Element, areOurs: boolean): void {
  setAttribute(focused, 'data-lm-suppress-shortcuts', areOurs ? 'true' : null);
}

function styles(): HTMLStyleElement {
  const style = element('style');
  style.textContent = STYLE;
  return style;
}

function layout(state: State): readonly HTMLElement[] {
  const body = element(
    'div',
    { class: 'polyviz-columns' },
    element('div', {}, section('Source', sourceView(state)), section('Schedule tree', treeView(state)), section('Generated code', codeView(state))),
    element('div', {}, section('Domain', domainView(state), timeView(state), deviceTimeView(state)), section('Dependences', dependenceView(state)), section('Cache', cacheView(state)))
  );
  const all = element('div', {}, body);
  all.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      state.select(NOTHING);
    }
  });
  return [title(state), headView(state), statusView(state), all, ...folded(state)];
}

function section(name: string, ...content: readonly HTMLElement[]): HTMLElement {
  const heading = element('p', { class: 'polyviz-heading' }, name);
  return element('section', { 'aria-label': name, class: 'polyviz-section' }, heading, ...content);
}

/** The moves of a menu with others added, or known better. */
function withNews(known: readonly Choice[], news: readonly Choice[]): readonly Choice[] {
  const choices = [...known];
  for (const choice of news) {
    const place = choice.place ?? choices.length;
    choices.splice(place, place < choices.length ? 1 : 0, choice);
  }
  return choices;
}

function title(state: State): HTMLElement {
  const heading = element('p', { class: 'polyviz-name' });
  const draw = (): void => {
    heading.textContent = state.model.context === '' ? state.model.name : `${state.model.name}, for ${state.model.context}`;
  };
  state.on(['model'], draw);
  draw();
  return heading;
}

function folded(state: State): readonly HTMLElement[] {
  const isEdited = (): boolean => state.model.edit !== null || state.model.lost !== null;
  const history = folding('History and script', isEdited(), historyView(state));
  state.on(['model'], () => (history.open ||= isEdited()));
  const timing = folding('Timing', state.model.comparison !== null, element('section', { 'aria-label': 'Timing of the schedules' }, comparisonView(state)));
  const why = unfolding('Why?', () => whyView(state));
  why.addEventListener('toggle', whyAsked(state, () => why.open));
  const parts = [history, why, unfolding('Side by side', () => sideView(state)), gpuView(state), timing];
  const notes = items(notesOf(state.model));
  return notes === null ? parts : [...parts, folding('Notes', false, notes)];
}

function notesOf(model: Model): readonly string[] {
  const shortened = 'This view was shortened to keep the notebook small: some texts or lists are cut.';
  return model.shortened ? [...model.notes, shortened] : model.notes;
}
