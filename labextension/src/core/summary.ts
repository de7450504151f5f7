/** The least that is worth having beside a notebook: which schedule, its tree, its program, and the script of the moves. */

import { card } from './card';
import { element, folding } from './dom';
import { headView } from './headView';
import type { Model } from './model';
import { readModel } from './read';
import { codeView } from './sourceView';
import { SELECTED, State, type Picked } from './state';
import { STYLE } from './style';
import { treeView } from './treeView';
import { whyView } from './whyView';

export function summary(value: unknown): HTMLElement {
  const root = element('div', { class: 'polyviz' });
  const style = element('style');
  style.textContent = STYLE;
  const reading = readModel(value);
  if ('problem' in reading) {
    root.append(style, card(reading.problem));
    return root;
  }
  try {
    const state = stateOf(reading.model);
    root.append(style, ...parts(state));
    root.addEventListener(SELECTED, event => follow(state, (event as CustomEvent<Picked>).detail));
  } catch {
    // The output itself says that it is damaged.
    root.replaceChildren();
  }
  return root;
}

/** Light what is picked in the views of the same loops. */
function follow(state: State, { text, variant, selection }: Picked): void {
  const number = state.model.variants.findIndex(one => one.name === variant);
  if (text !== state.model.text || number < 0) {
    return;
  }
  if (number !== state.variantNumber) {
    state.choose(number);
  }
  state.select(selection);
}

function stateOf(model: Model): State {
  const state = new State(model, null);
  const shown = model.variants.findIndex(one => one.name === model.edit?.variant);
  state.variantNumber = Math.max(0, shown);
  return state;
}

function parts(state: State): readonly HTMLElement[] {
  const { model } = state;
  const script = model.edit?.python ?? '';
  return [
    element('p', { class: 'polyviz-name' }, model.name),
    headView(state),
    folding('Schedule tree', true, treeView(state)),
    folding('Generated code', true, codeView(state)),
    folding('Why?', false, whyView(state)),
    ...(script === '' ? [] : [folding('Script of the moves', false, element('pre', { class: 'polyviz-script', tabindex: 0 }, script))])
  ];
}
