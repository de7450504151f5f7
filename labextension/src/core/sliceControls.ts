/** Sliders that hold a dimension at one value; at their left end they draw all of it. */

import type { Axis, Pane, Slices } from './clouds';
import { element, folding } from './dom';

export function sliceControls(
  panes: readonly Pane[],
  slices: ReadonlyMap<string, Slices>,
  isOpen: boolean,
  change: (pane: Pane, slices: Slices) => void
): HTMLElement {
  const controls = panes
    .filter(pane => pane.axes.length > 2 && pane.axes.some(axis => axis.high > axis.low))
    .map(pane => ofPane(pane, slices.get(pane.key) ?? new Map<number, number>(), change));
  return controls.length > 2 ? folding('Slices', isOpen, ...controls) : element('div', {}, ...controls);
}

function ofPane(pane: Pane, slices: Slices, change: (pane: Pane, slices: Slices) => void): HTMLElement {
  const sliders = pane.axes.map((axis, number) => {
    const set = (value: number | null): void => {
      const next = new Map(slices);
      if (value === null) {
        next.delete(number);
      } else {
        next.set(number, value);
      }
      change(pane, next);
    };
    return slider(pane, axis, slices.get(number) ?? null, set);
  });
  return element('fieldset', { class: 'polyviz-filter' }, element('legend', {}, `Slice of ${pane.title}`), ...sliders);
}

function slider(pane: Pane, axis: Axis, value: number | null, set: (value: number | null) => void): HTMLElement {
  const input = element('input', {
    type: 'range',
    min: axis.low - 1,
    max: axis.high,
    'aria-label': `Slice of ${pane.title} at ${axis.label}`,
    'aria-valuetext': value === null ? 'all' : String(value)
  });
  input.value = String(value ?? axis.low - 1);
  input.addEventListener('change', () => {
    const chosen = Number(input.value);
    set(chosen < axis.low ? null : chosen);
  });
  return element('label', {}, element('code', {}, axis.label), input, value === null ? 'all' : `= ${value}`);
}
