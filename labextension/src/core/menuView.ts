/** The moves at one place: legal ones can be made; the others say why not, and draw the pair of instances that forbids them. */

import { button, element } from './dom';
import type { Choice } from './model';
import { NOTHING } from './selection';
import type { Menu, State } from './state';

export function menuView(state: State, menu: Menu): HTMLElement {
  const legal = menu.choices.filter(choice => choice.legal);
  const illegal = menu.choices.filter(choice => !choice.legal);
  const reason = element('p', { class: 'polyviz-reason', 'aria-live': 'polite' });
  const root = element(
    'div',
    { class: 'polyviz-menu', role: 'group', 'aria-label': `Moves at ${menu.address}` },
    element('p', { class: 'polyviz-word' }, `Moves at ${menu.address}`, button('Close', () => closeMenu(state), { class: 'polyviz-small' })),
    legal.length > 0 ? group('Legal', legal.map(choice => allowed(state, choice))) : element('p', {}, 'No move is legal here.'),
    illegal.length > 0 ? group('They would change the result; pick one to see why', illegal.map(choice => forbidden(state, choice, reason))) : null,
    reason
  );
  root.addEventListener('keydown', event => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      closeMenu(state);
    }
  });
  return root;
}

function group(name: string, buttons: readonly HTMLElement[]): HTMLElement {
  return element('div', {}, element('p', { class: 'polyviz-muted' }, name), element('div', { class: 'polyviz-offers' }, ...buttons));
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
  const made = button(choice.label, apply, { class: 'polyviz-move' });
  if (choice.effect !== '') {
    made.append(element('span', { class: 'polyviz-effect' }, choice.effect));
  }
  return made;
}

/** Still a button that works: what it does is show why the move cannot be made. */
function forbidden(state: State, choice: Choice, reason: HTMLElement): HTMLElement {
  const { violation } = choice;
  const show = (): void => {
    reason.textContent = `${choice.label}: ${choice.reason}`;
    state.select(violation === null ? NOTHING : { what: 'violation', violation });
  };
  return button(choice.label, show, {
    class: 'polyviz-move polyviz-illegal',
    'aria-label': `${choice.label}: not possible, show why`,
    title: choice.reason
  });
}
