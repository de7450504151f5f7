/** The moves made so far: undo, redo, a slider over them, and the script that makes them again without the widget. */

import { button, element, keepingFocus, prose } from './dom';
import type { Edit } from './model';
import type { State } from './state';

export function historyView(state: State): HTMLElement {
  const root = element('div', {});
  const draw = (): void => {
    const edit = state.model.edit;
    const none = state.host === null ? 'Nothing was edited.' : 'Nothing edited yet: choose a move on a loop of the tree.';
    const history = edit === null ? [element('p', { class: 'polyviz-muted' }, none)] : drawn(state, edit);
    root.replaceChildren(...replay(state), ...lost(state), ...history);
  };
  state.on(['model', 'variant'], () => keepingFocus(root, draw));
  draw();
  return root;
}

/** A schedule that was found automatically can be taken apart into moves, and followed with the slider. */
function replay(state: State): readonly HTMLElement[] {
  const variant = state.variant?.name ?? '';
  if (state.host === null || variant === '' || variant === state.model.edit?.variant) {
    return [];
  }
  const ask = (): void => state.ask({ ask: 'moves', variant }, `looking for the moves that make ${variant}`);
  return [element('p', {}, button(`Show ${variant} as moves from the original`, ask))];
}

/** Moves of an earlier kernel: what could not be made again is there to be copied. */
function lost(state: State): readonly HTMLElement[] {
  const found = state.model.lost;
  if (found === null) {
    return [];
  }
  return [
    element('p', { class: 'polyviz-reason' }, 'These moves were made before the kernel ended, and could not be made again. ', ...prose(found.problem)),
    ...scriptOf('Script of the moves before', found.script)
  ];
}

/** A script and its copy button, and what else stands beside that. */
function scriptOf(label: string, text: string, ...beside: readonly HTMLElement[]): readonly HTMLElement[] {
  const copy = button('Copy script', () => void navigator.clipboard?.writeText(text));
  return [element('pre', { class: 'polyviz-script', tabindex: 0, 'aria-label': label }, text), element('p', { class: 'polyviz-row' }, copy, ...beside)];
}

function drawn(state: State, edit: Edit): readonly HTMLElement[] {
  const steps = edit.steps.map((step, number) =>
    element(
      'li',
      { 'aria-current': number === edit.steps.length - edit.undone - 1 ? 'step' : null, class: number >= edit.steps.length - edit.undone ? 'polyviz-undone' : '' },
      element('code', {}, step.text),
      ' ',
      ...prose(step.decision)
    )
  );
  return [
    ...(state.host === null ? [] : [controls(state, edit)]),
    element('p', {}, `Begins with ${edit.start}.`),
    element('ol', {}, ...steps),
    ...scriptOf('Script of the moves', edit.python, element('span', { class: 'polyviz-muted' }, 'In Python the inspector has the moves too: .edit and .schedule of the result of this cell.'))
  ];
}

function controls(state: State, edit: Edit): HTMLElement {
  const total = edit.steps.length;
  const here = total - edit.undone;
  const go = (position: number): void => state.ask({ ask: 'history', position }, 'changing the schedule');
  const undo = button('Undo', () => go(here - 1));
  const redo = button('Redo', () => go(here + 1));
  undo.disabled = here === 0;
  redo.disabled = edit.undone === 0;
  const slider = element('input', { type: 'range', min: 0, max: total, 'aria-label': 'Moves made' });
  slider.value = String(here);
  slider.addEventListener('change', () => go(Number(slider.value)));
  return element('div', { class: 'polyviz-row' }, undo, redo, element('label', {}, 'Steps', slider, `${here} of ${total}`));
}
