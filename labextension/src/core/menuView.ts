/**
 * The moves at one place: legal ones can be made, and say what they would cost; the others say why not, and draw the pair
 * of instances that forbids them.
 */

import { bytesText, cacheText, totalsOf, type Totals } from './cache';
import { button, element } from './dom';
import type { Choice } from './model';
import { NOTHING } from './selection';
import type { Menu, State } from './state';

export function menuView(state: State, menu: Menu): HTMLElement {
  const legal = menu.choices.filter(choice => choice.legal);
  const illegal = menu.choices.filter(choice => !choice.legal);
  const now = state.variant === undefined ? null : totalsOf(state.model, state.variant, state.cache);
  const reason = element('p', { class: 'polyviz-reason', 'aria-live': 'polite' });
  const root = element(
    'div',
    { class: 'polyviz-menu', role: 'group', 'aria-label': `Moves at ${menu.address}` },
    element('p', { class: 'polyviz-word' }, `Moves at ${menu.address}`, button('Close', () => closeMenu(state), { class: 'polyviz-small' })),
    now === null || legal.length === 0 ? null : element('p', { class: 'polyviz-muted' }, prediction(state, now)),
    legal.length > 0 ? group('Legal', legal.map(choice => allowed(state, choice, now))) : element('p', {}, 'No move is legal here.'),
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

/** What the numbers on the moves mean, and where they stand now. */
function prediction(state: State, now: Totals): string {
  const order = `Now ${now.steps} steps for ${now.instances} iterations (those of parallel loops at once)`;
  return now.accesses === 0 ? `${order}.` : `${order}, ${bytesText(now.bytes)} moved through a cache of ${cacheText(state.cache)}. ▼ less, ▲ more:`;
}

function allowed(state: State, choice: Choice, now: Totals | null): HTMLElement {
  const apply = (): void => {
    const variant = state.variant?.name ?? '';
    const { move, at } = choice;
    state.ask({ ask: 'apply', variant, at, move, arguments: choice.arguments }, `making the move “${choice.label}”`);
  };
  const made = button(choice.label, apply, { class: 'polyviz-move' });
  for (const effect of effects(state, choice, now)) {
    made.append(element('span', { class: `polyviz-effect ${effect.startsWith(WORSE) ? 'polyviz-worse' : ''}` }, effect));
  }
  return made;
}

/** The numbers that a move would change; a sign tells better from worse. */
function effects(state: State, choice: Choice, now: Totals | null): readonly string[] {
  const told = choice.effect === '' ? [] : [choice.effect];
  if (now === null || choice.after === null) {
    return told;
  }
  const then = totalsOf(state.model, choice.after, state.cache);
  const steps = then.steps === now.steps ? [] : [`${signOf(now.steps, then.steps)} ${then.steps} steps`];
  const bytes = then.bytes === now.bytes ? [] : [`${signOf(now.bytes, then.bytes)} ${bytesText(then.bytes)}`];
  const changed = [...told, ...steps, ...bytes];
  return changed.length > 0 ? changed : ['same steps and bytes'];
}

const WORSE = '▲';

function signOf(now: number, then: number): string {
  return then < now ? '▼' : WORSE;
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
