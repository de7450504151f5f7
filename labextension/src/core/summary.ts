/** The least that is worth having beside a notebook: which schedule, its tree, its program, and the script of the moves. */

import { card } from './card';
import { element, folding } from './dom';
import { headView } from './headView';
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
  const state = new State(reading.model, null);
  const shown = reading.model.variants.findIndex(one => one.name === reading.model.edit?.variant);
  state.variantNumber = Math.max(0, shown);
  const script = reading.model.edit?.python ?? '';
  root.append(
    style,
    element('p', { class: 'polyviz-name' }, reading.model.name),
    headView(state),
    folding('Schedule tree', true, treeView(state)),
    folding('Generated code', true, codeView(state)),
    folding('Why?', false, whyView(state))
  );
  if (script !== '') {
    root.append(folding('Script of the moves', false, element('pre', { class: 'polyviz-script', tabindex: 0 }, script)));
  }
  return root;
}
