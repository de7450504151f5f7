/** Why each loop and statement is what it is: as written, in the chosen schedule and in its program; then the scheduler's log. */

import { element, items, keepingFocus, prose } from './dom';
import { capitalised, loopsOf, verdictOf, whyOf, type Loop } from './loops';
import type { Model, Reason, Sentence, Variant } from './model';
import type { State } from './state';

const TOPICS: ReadonlyMap<string, string> = new Map([
  ['tiles', 'Tiles'],
  ['fusion', 'Fusion'],
  ['vectors', 'Vectors'],
  ['promotion', 'Promotion'],
  ['reduction', 'Reduction']
]);

export function whyView(state: State): HTMLElement {
  const picked = element('div', { 'aria-live': 'polite' });
  const written = element('div', {});
  const found = element('div', {});
  const draw = (): void => {
    written.replaceChildren(word('As written'), ...asWritten(state));
    found.replaceChildren(...(state.variant === undefined ? [] : inSchedule(state, state.variant)));
    drawPicked();
  };
  const drawPicked = (): void => picked.replaceChildren(...aboutSelection(state));
  const root = element('div', { class: 'polyviz-why' }, picked, written, found);
  state.on(['model', 'variant'], () => keepingFocus(root, draw));
  state.on(['selection'], () => keepingFocus(root, drawPicked));
  draw();
  return root;
}

/** Ask the kernel for the reasons of the schedule shown, once, when `isOpen` and nothing else is going on. */
export function whyAsked(state: State, isOpen: () => boolean): () => void {
  let asked: Variant | undefined;
  const ask = (): void => {
    const { variant, host, busy } = state;
    if (!isOpen() || host === null || busy !== '' || variant === undefined || variant.reasons !== null || variant === asked) {
      return;
    }
    asked = variant;
    state.ask({ ask: 'why', variant: variant.name }, `finding out why the loops of ${variant.name} are as they are`);
  };
  state.on(['variant', 'busy'], ask);
  return ask;
}

function word(text: string): HTMLElement {
  return element('p', { class: 'polyviz-word' }, text);
}

function asWritten(state: State): readonly HTMLElement[] {
  const loops = state.model.loops.map(({ loop, depth, statements, explanation, witness }) => {
    const item = sentence(state, { text: explanation || `loop ${loop}`, violation: witness }, depth);
    // Loops of one name are told apart by it.
    const line = state.model.statements.find(one => statements.includes(one.name))?.loopLines[depth];
    item.prepend(line === undefined ? '' : `Line ${line}, around ${statements.join(', ')}: `);
    return item;
  });
  return [element('ul', {}, ...loops)];
}

function inSchedule(state: State, variant: Variant): readonly HTMLElement[] {
  const { model } = state;
  const reasons = variant.reasons ?? [];
  const loops = loopsOf(variant).map(loop => loopItem(state, variant, loop, loop.depth, firstTold(variant, loop)));
  const statements = model.statements.flatMap(({ name }) => {
    const own = reasons.filter(one => isAbout(one, name));
    return own.length === 0 ? [] : [element('li', {}, element('code', {}, name), told(state, own))];
  });
  const decisions = variant.decisions
    .filter(one => one.step !== 'loop')
    .map(one => element('li', {}, element('code', {}, one.step), ' ', ...prose(one.text)));
  const more = 'Why loops are tiled, fused and vectorised, or not, was left out of this saved view, since finding it out takes a while: run this cell and unfold this part.';
  return [
    word(`In the schedule ${variant.name}`),
    element('ul', {}, ...loops),
    ...(variant.reasons === null && state.host === null ? [element('p', { class: 'polyviz-muted' }, more)] : []),
    ...(statements.length > 0 ? [word('Its statements'), element('ul', {}, ...statements)] : []),
    ...(decisions.length > 0 ? [word('Decisions of the scheduler'), element('ul', {}, ...decisions)] : [])
  ];
}

/** The reasons of a loop, without those that were told of a loop before it. */
function firstTold(variant: Variant, loop: Loop): readonly Reason[] {
  const reasons = variant.reasons ?? [];
  return reasons.filter(
    (one, place) => one.address !== '' && one.address === loop.member.address && reasons.findIndex(other => other.text === one.text) === place
  );
}

function isAbout(reason: Reason, statement: string): boolean {
  return reason.address === '' && reason.statements.includes(statement);
}

function loopItem(state: State, variant: Variant, loop: Loop, depth: number, reasons: readonly Reason[]): HTMLElement {
  const known = verdictOf(variant, loop.id);
  const text = whyOf(state.model, variant, loop);
  const item = sentence(state, { text, violation: known?.violation ?? null }, depth);
  const pick = small(loop.member.address || 'loop', `Select the loop of: ${text}`, () => state.select({ what: 'loop', loop: loop.id }));
  item.prepend(pick, ' ');
  item.append(told(state, reasons));
  return item;
}

function told(state: State, reasons: readonly Reason[]): HTMLElement {
  return element(
    'ul',
    {},
    ...reasons.map(one => {
      const item = sentence(state, one, 0);
      item.prepend(element('span', { class: 'polyviz-badge' }, TOPICS.get(one.topic) ?? one.topic), ' ');
      return item;
    })
  );
}

/** A sentence; a button shows the pair that it is about. */
function sentence(state: State, { text, violation }: Sentence, depth: number): HTMLElement {
  const full = capitalised(text);
  const item = element('li', {});
  item.style.marginInlineStart = `${depth}em`;
  item.append(...prose(/[.!?]$/.test(full) ? full : `${full}.`));
  if (violation !== null) {
    item.append(' ', small('Show the pair', `Show the pair of ${full}`, () => state.select({ what: 'violation', violation })));
  }
  return item;
}

function small(text: string, label: string, act: () => void): HTMLElement {
  const made = element('button', { type: 'button', class: 'polyviz-small', 'aria-label': label }, text);
  made.addEventListener('click', act);
  return made;
}

/** What there is to say of the loop or the statements that are selected. */
function aboutSelection(state: State): readonly HTMLElement[] {
  const { model, variant, selection, light } = state;
  if (variant === undefined || !['loop', 'statement', 'statements', 'instance', 'line'].includes(selection.what) || light.isEmpty) {
    return [];
  }
  const loops = loopsOf(variant).filter(loop => light.loops.has(loop.id));
  const reasonsAt = (loop: Loop): readonly Reason[] =>
    (variant.reasons ?? []).filter(one => one.address !== '' && one.address === loop.member.address);
  const names = selection.what === 'loop' ? [] : statementNames(model, light.statements);
  const statements = names.map(name => {
    const own = (variant.reasons ?? []).filter(one => isAbout(one, name));
    return element('li', {}, element('code', {}, name), own.length === 0 ? items([]) : told(state, own));
  });
  const found = [...loops.map(loop => loopItem(state, variant, loop, 0, reasonsAt(loop))), ...statements];
  return [word('What is selected'), element('ul', {}, ...found)];
}

function statementNames(model: Model, numbers: ReadonlySet<number>): readonly string[] {
  return model.statements.flatMap(({ name }, number) => (numbers.has(number) ? [name] : []));
}
