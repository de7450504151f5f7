/** One drawing of some loops takes the place of another, as when the kernel dies: it goes on where the reader was. */

const SCHEDULE = 'input[aria-label^="Schedule "]';

/** Show in `to` the schedule that is shown in `from`, and unfold what is unfolded there. */
export function carryOver(from: Element, to: Element): void {
  const shown = from.querySelector<HTMLInputElement>(`${SCHEDULE}:checked`)?.getAttribute('aria-label');
  const same = [...to.querySelectorAll<HTMLInputElement>(SCHEDULE)].find(one => one.getAttribute('aria-label') === shown);
  if (same !== undefined && !same.checked) {
    same.checked = true;
    same.dispatchEvent(new Event('change'));
  }
  const open = new Set([...from.querySelectorAll('details[open] > summary')].map(one => one.textContent));
  for (const fold of to.querySelectorAll('details')) {
    fold.open ||= open.has(fold.querySelector(':scope > summary')?.textContent ?? '');
  }
}
