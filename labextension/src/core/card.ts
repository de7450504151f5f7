/** What is shown when there is nothing to draw: a sentence that says why. */

import { element, prose } from './dom';

export function card(problem: string): HTMLElement {
  return element(
    'div',
    { class: 'polyviz-card', role: 'note' },
    element('p', { class: 'polyviz-word' }, 'polyviz'),
    element('p', {}, ...prose(problem))
  );
}
