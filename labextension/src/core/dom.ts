/** Elements without markup: every text from a model becomes a text node or an attribute value, never HTML. */

export type Child = Node | string | null;
export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

export function shape<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG_NAMESPACE, name), attributes, children);
}

function fill<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    setAttribute(made, name, value);
  }
  made.append(...children.filter((child): child is Node | string => child !== null));
  return made;
}

export function setAttribute(target: Element, name: string, value: string | number | boolean | null): void {
  if (value === null || value === false) {
    target.removeAttribute(name);
  } else {
    target.setAttribute(name, value === true ? '' : String(value));
  }
}

export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', act);
  return made;
}

/** A long name, or code without a space: it may go on below behind its underscores, dots and brackets. */
export function breakable(text: string): readonly (Node | string)[] {
  const pieces = text.match(/[^_.[(]*[_.[(]|[^_.[(]+/g) ?? [];
  return pieces.flatMap((piece, place) => (place > 0 ? [element('wbr'), piece] : [piece]));
}

/** A sentence; what it has between backticks is code. */
export function prose(text: string): readonly (Node | string)[] {
  const pieces = text.split(/`([^`]+)`/);
  return pieces.flatMap((piece, place) => (piece === '' ? [] : [place % 2 === 1 ? element('code', {}, piece) : piece]));
}

/** A folding part with its own heading. */
export function folding(summary: string, open: boolean, ...children: readonly Child[]): HTMLDetailsElement {
  return element('details', { open, class: 'polyviz-folding' }, element('summary', {}, summary), ...children);
}

/** A folding part whose content is made when somebody unfolds it: what nobody sees takes no time before. */
export function unfolding(summary: string, make: () => Child): HTMLDetailsElement {
  const part = folding(summary, false);
  part.addEventListener('toggle', () => part.append(make() ?? ''), { once: true });
  return part;
}

/** What may be wider or longer than its place: whoever uses keys can scroll it, and hears what it is. */
export function scrolling(label: string, ...content: readonly Child[]): HTMLDivElement {
  return element('div', { class: 'polyviz-scroll', tabindex: 0, role: 'group', 'aria-label': label }, ...content);
}

export function items(sentences: readonly string[]): HTMLUListElement | null {
  return sentences.length > 0 ? element('ul', {}, ...sentences.map(one => element('li', {}, ...prose(one)))) : null;
}

/** One of several values, as radio buttons. */
export function radios<Value extends string>(legend: string, chosen: Value, options: readonly (readonly [Value, string])[], choose: (value: Value) => void): HTMLElement {
  const name = freshId('choice');
  const made = options.map(([value, label]) => {
    const radio = element('input', { type: 'radio', name, 'aria-label': `${legend}: ${label}` });
    radio.checked = chosen === value;
    radio.addEventListener('change', () => choose(value));
    return element('label', {}, radio, label);
  });
  return element('fieldset', { class: 'polyviz-filter' }, element('legend', {}, legend), ...made);
}

/** Every widget of a page loads this module anew, so that a number alone would come back in the next one. */
const load = Math.random().toString(36).slice(2);
let counter = 0;

/** An id that no other element of this page has. */
export function freshId(purpose: string): string {
  counter += 1;
  return `polyviz-${purpose}-${load}-${counter}`;
}

/**
 * Redraw below `root` and give the focus back to the control that had it, found again by its name. Where that is gone
 * or cannot be used any more, like Undo after the last step, its neighbour gets it: nobody starts again at the top.
 */
export function keepingFocus(root: HTMLElement, redraw: () => void): void {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const place = active === null ? -1 : controls(root).findIndex(one => one === active);
  redraw();
  if (active === null) {
    return;
  }
  const all = controls(root);
  const same = all.flatMap((one, number) => (nameOf(one) === nameOf(active) ? [number] : []));
  const again = same.includes(place) ? place : (same[0] ?? -1);
  const near = Math.max(0, again < 0 ? place : again);
  const usable = [...all.slice(near), ...all.slice(0, near).reverse()].find(one => !one.matches(':disabled'));
  usable?.focus();
}

function controls(root: HTMLElement): readonly HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('button, input, select, summary, [tabindex]')];
}

function nameOf(control: Element): string | null {
  return control.getAttribute('aria-label') ?? control.textContent;
}
