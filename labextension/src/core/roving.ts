/** One tab stop for a list: the arrow keys move in it, as in the ARIA patterns for listbox and tree. */

const STEPS: ReadonlyMap<string, number> = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
  ['Home', -Infinity],
  ['End', Infinity]
]);

/** Let the keyboard move between the elements that match `selector` below `container`. */
export function rove(container: HTMLElement, selector: string): void {
  const all = (): HTMLElement[] => [...container.querySelectorAll<HTMLElement>(selector)].filter(item => !item.hidden);
  all().forEach((item, place) => (item.tabIndex = place === 0 ? 0 : -1));
  container.addEventListener('keydown', event => {
    const step = STEPS.get(event.key);
    const list = all();
    const here = list.indexOf(event.target as HTMLElement);
    if (step === undefined || here < 0) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    list[Math.min(list.length - 1, Math.max(0, here + step))]?.focus();
  });
  container.addEventListener('focusin', event => {
    const target = event.target as HTMLElement;
    if (target.matches(selector)) {
      all().forEach(item => (item.tabIndex = item === target ? 0 : -1));
    }
  });
}

/** Call `act` when the element is clicked, or Enter or the space bar is pressed on it. */
export function onPick(target: HTMLElement, act: () => void): void {
  target.addEventListener('click', event => {
    if ((event.target as Element).closest('button, input, select') === null) {
      act();
    }
  });
  target.addEventListener('keydown', event => {
    if (event.target === target && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      act();
    }
  });
}
