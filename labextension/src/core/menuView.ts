/**
 * The moves at one place: legal ones can be made, and say what they would cost; the others say why not, and draw the pair
 * of instances that forbids them. The menu is there at once, and moves are added to it as the kernel finds them.
 */

import { bytesText, cacheText, totalsOf, type Totals } from './cache';
import { button, element, prose } from './dom';
import type { Choice } from './model';
import { NOTHING } from './selection';
import type { Menu, State } from './state';

const WORSE = '▲';
/** The arguments of moves that are numbers a person may choose. */
const NUMBERS = ['sizes', 'size', 'factor', 'amount'];
const BETTER = '▼';

export class MenuView {
  readonly root: HTMLElement;
  readonly address: string;
  readonly number: number;
  private readonly now: Totals | null;
  private readonly legal = new Group('Legal');
  private readonly illegal = new Group('They would change the result; pick one to see why');
  private readonly waiting = element('p', { class: 'polyviz-muted', role: 'status' });
  private readonly reason = element('p', { class: 'polyviz-reason', 'aria-live': 'polite' });
  private shown: readonly Choice[] = [];
  private readonly made: HTMLElement[] = [];
  private readonly asked = new Set<string>();

  constructor(
    private readonly state: State,
    { address, number }: Menu
  ) {
    this.address = address;
    this.number = number;
    this.now = state.variant === undefined ? null : totalsOf(state.model, state.variant, state.cache);
    this.root = element(
      'div',
      { class: 'polyviz-menu', role: 'group', tabindex: -1, 'aria-label': `Moves at ${address}` },
      element('p', { class: 'polyviz-word' }, `Moves at ${address}`, button('Close', () => this.close(), { class: 'polyviz-small' })),
      this.now === null ? null : element('p', { class: 'polyviz-muted' }, prediction(state, this.now)),
      this.legal.root,
      this.illegal.root,
      this.waiting,
      this.reason
    );
    this.root.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.close();
      }
    });
  }

  /** Add what was found since the last time; what is there already keeps its place, and the focus. */
  update(menu: Menu): void {
    menu.choices.forEach((choice, place) => {
      const known = this.made[place];
      if (known === undefined) {
        const made = choice.legal ? this.allowed(choice) : this.forbidden(choice);
        this.made.push(made);
        (choice.legal ? this.legal : this.illegal).add(made);
        if (choice.legal) {
          this.legal.add(this.otherNumbers(choice));
        }
      } else if (choice.legal && choice !== this.shown[place]) {
        known.replaceChildren(choice.label, ...this.told(choice));
      }
    });
    this.shown = menu.choices;
    this.waiting.textContent = waitingText(menu);
    this.waiting.hidden = this.waiting.textContent === '';
  }

  private close(): void {
    this.state.menu = null;
    this.state.tell('choices');
  }

  private allowed(choice: Choice): HTMLElement {
    const made = button(choice.label, () => this.apply(choice, choice.arguments), { class: 'polyviz-move' });
    made.append(...this.told(choice));
    return made;
  }

  private apply({ move, at, label }: Choice, values: Choice['arguments']): void {
    const variant = this.state.variant?.name ?? '';
    this.state.ask({ ask: 'apply', variant, at, move, arguments: values }, `making the move “${label}”`);
  }

  /** A field for sizes of one's own, behind the first offer of a move that takes numbers. */
  private otherNumbers(choice: Choice): HTMLElement | null {
    const key = NUMBERS.find(name => name in choice.arguments);
    if (key === undefined || this.asked.has(choice.move)) {
      return null;
    }
    this.asked.add(choice.move);
    const given = choice.arguments[key];
    const field = element('input', { class: 'polyviz-numbers', 'aria-label': `${choice.label}, with other numbers`, title: 'Enter makes the move' });
    field.value = String(given);
    field.addEventListener('keydown', event => {
      const numbers = (field.value.match(/-?\d+/g) ?? []).map(Number);
      if (event.key === 'Enter' && numbers.length > 0) {
        this.apply(choice, { ...choice.arguments, [key]: Array.isArray(given) ? numbers : numbers[0] });
      }
    });
    return element('label', {}, `or ${choice.label.split(' by ')[0]!.toLowerCase()} by `, field);
  }

  /** What a move would change, to stand behind its name. */
  private told(choice: Choice): readonly (Node | string)[] {
    return effects(this.state, choice, this.now).flatMap(effect => {
      const tone = effect.startsWith(WORSE) ? 'polyviz-worse' : effect.startsWith(BETTER) ? 'polyviz-better' : '';
      return [' ', element('span', { class: `polyviz-effect ${tone}` }, effect)];
    });
  }

  /** Still a button that works: what it does is show why the move cannot be made. */
  private forbidden(choice: Choice): HTMLElement {
    const { violation } = choice;
    const show = (): void => {
      this.reason.replaceChildren(...prose(`${choice.label}: ${choice.reason}`));
      this.state.select(violation === null ? NOTHING : { what: 'violation', violation });
    };
    return button(choice.label, show, {
      class: 'polyviz-move polyviz-illegal',
      'aria-label': `${choice.label}: not possible, show why`,
      title: choice.reason
    });
  }
}

/** Buttons below a heading; nothing while there are none. */
class Group {
  readonly root: HTMLElement;
  private readonly offers = element('div', { class: 'polyviz-offers' });

  constructor(name: string) {
    this.root = element('div', { hidden: true }, element('p', { class: 'polyviz-muted' }, name), this.offers);
  }

  add(offer: HTMLElement | null): void {
    if (offer !== null) {
      this.root.hidden = false;
      this.offers.append(offer);
    }
  }
}

/** What the numbers on the moves mean, and where they stand now. */
function prediction(state: State, now: Totals): string {
  const order = `For the sizes drawn now ${now.steps} steps for ${now.instances} iterations (those of parallel loops at once)`;
  return now.accesses === 0 ? `${order}.` : `${order}, ${bytesText(now.bytes)} moved through a cache of ${cacheText(state.cache)}. ${BETTER} less, ${WORSE} more:`;
}

/** What is still to come, or that there is nothing. */
function waitingText({ choices, isComplete }: Menu): string {
  const legal = choices.filter(choice => choice.legal);
  if (isComplete) {
    return legal.length > 0 ? '' : 'No move is legal here.';
  }
  const isListed = legal.some(choice => choice.effect !== null);
  return isListed ? 'Working out what the moves would change …' : 'Looking for moves …';
}

/** The numbers that a move would change; a sign tells better from worse. */
function effects(state: State, choice: Choice, now: Totals | null): readonly string[] {
  if (choice.effect === null) {
    return ['…'];
  }
  const told = choice.effect === '' ? [] : [choice.effect];
  if (now === null || choice.after === null) {
    return told;
  }
  const then = totalsOf(state.model, choice.after, state.cache);
  const steps = then.steps === now.steps ? [] : [`${signOf(now.steps, then.steps)} ${now.steps} → ${then.steps} steps`];
  const bytes = then.bytes === now.bytes ? [] : [`${signOf(now.bytes, then.bytes)} ${bytesText(now.bytes)} → ${bytesText(then.bytes)}`];
  const changed = [...told, ...steps, ...bytes];
  return changed.length > 0 ? changed : ['same steps and bytes'];
}

function signOf(now: number, then: number): string {
  return then < now ? BETTER : WORSE;
}
