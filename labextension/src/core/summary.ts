/** The least that is worth having beside a notebook: which schedule, its tree, its program, and the script of the moves. */

import { card } from './card';
import { element, folding } from './dom';
import { headView } from './headView';
import type { Model } from './model';
import { readModel } from './read';
import { codeView } from './sourceView';
import { State } from './state';
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
    root.append(style, ...parts(reading.model));
  } catch {
    // The output itself says that it is damaged.
    root.replaceChildren();
  }
  return root;
}

function parts(model: Model): readonly HTMLElement[] {
  const state = new State(model, null);
  const shown = model.variants.findIndex(one => one.name === model.edit?.variant);
  state.variantNumber = Math.max(0, shown);
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
