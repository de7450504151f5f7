/**
 * What runs beside the notebook: a button that begins it, one that stops it, and what is being done. They stay in the page
 * while that changes: a button that is made anew between press and release loses the click.
 */

import { button, element } from './dom';
import type { State } from './state';

export interface Runner {
  readonly root: HTMLElement;
  /** Say on the first button what it begins. */
  rename(label: string): void;
}

/** `idle` is told while nothing runs; `stops` is the name of the second button where there are several of its kind. */
export function runner(state: State, begin: () => void, idle = '', stops: string | null = null): Runner {
  const run = button('', begin);
  const cancel = button('Cancel', () => state.host?.ask({ ask: 'cancel' }), { 'aria-label': stops });
  const told = element('span', { class: 'polyviz-muted' });
  const tell = (): void => {
    run.disabled = state.busy !== '';
    cancel.disabled = state.busy === '';
    told.textContent = state.busy === '' ? idle : state.busy;
  };
  state.on(['busy'], tell);
  tell();
  return { root: element('p', { class: 'polyviz-row' }, run, cancel, told), rename: label => (run.textContent = label) };
}

/** Verifies and times all schedules; null where no kernel could do it. */
export function timer(state: State): Runner | null {
  return state.host === null || !state.canRun ? null : runner(state, () => state.ask({ ask: 'run' }, 'verifying and timing'), 'On copies of the arguments: nothing in the notebook changes.');
}

/** The timer says whether it has done so already. */
export function renameTimer(run: Runner | null, state: State): void {
  run?.rename(state.model.comparison === null ? 'Verify and time' : 'Time again');
}
