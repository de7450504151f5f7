/** The moves on one loop: legal ones can be made; the others say why not, and draw the pair of instances that forbids them. */

import { button, element } from './dom';
import type { Choice } from './model';
import { NOTHING } from './selection';
import type { Menu, State } from './state';

export function menuView(state: State, menu: Menu): HTMLElement {
  const legal = menu.choices.filter(choice => choice.legal);
  const illegal = menu.choices.filter(choice => !choice.legal);
  const close = button('Close', () => closeMenu(state), { class: 'polyviz-small' });
  const root = element(
    'div',
    { class: 'polyviz-menu', role: 'group', 'aria-label': `Moves at ${menu.address}` },
    element('p', { class: 'polyviz-word' }, `Moves at ${menu.address}`, close),
    ...legal.map(choice => allowed(state, choice)),
    illegal.length > 0 ? element('p', { class: 'polyviz-muted' }, 'Not possible here, with the reason:') : null,
    ...illegal.map(choice => forbidden(state, choice))
  );
  root.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      closeMenu(state);
    }
  });
  return root;
}

function closeMenu(state: State): void {
  state.menu = null;
  state.tell('choices');
}

function allowed(state: State, choice: Choice): HTMLElement {
  const apply = (): void => {
    const variant = state.variant?.name ?? '';
    const { move, at } = choice;
    state.ask({ ask: 'apply', variant, at, move, arguments: choice.arguments }, `making the move “${choice.label}”`);
  };
  const effect = choice.effect === '' ? null : element('span', { class: 'polyviz-muted' }, choice.effect);
  return element('div', { class: 'polyviz-offer' }, button(choice.label, apply, { class: 'polyviz-move' }), effect);
}

function forbidden(state: State, choice: Choice): HTMLElement {
  const { violation } = choice;
  const show = (): void => state.select(violation === null ? NOTHING : { what: 'violation', violation });
  // Still a button that works: what it does is show why.
  const made = button(choice.label, show, {
    class: 'polyviz-move polyviz-illegal',
    'aria-label': `${choice.label}: not possible, show why`
  });
  const hint = violation === null ? '' : ' Click to draw the pair.';
  return element('div', { class: 'polyviz-offer' }, made, element('span', { class: 'polyviz-muted' }, `${choice.reason}${hint}`));
}
