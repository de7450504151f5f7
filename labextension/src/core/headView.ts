/** The top of the view: which schedule is shown, the sizes that are drawn, and what the kernel is doing. */

import { grouped } from './domainNotes';
import { button, element, freshId, keepingFocus, prose } from './dom';
import type { Parameter } from './model';
import type { State } from './state';

export function headView(state: State): HTMLElement {
  const root = element('div', {});
  const draw = (): void => root.replaceChildren(...state.model.warnings.map(one => element('p', { class: 'polyviz-problem' }, ...prose(one))), variantChoice(state), ...parameters(state));
  state.on(['model', 'variant'], () => keepingFocus(root, draw));
  draw();
  return root;
}

function variantChoice(state: State): HTMLElement {
  const name = freshId('variant');
  const radios = state.model.variants.map((variant, number) => {
    const radio = element('input', { type: 'radio', name, 'aria-label': `Schedule ${variant.name}` });
    radio.checked = number === state.variantNumber;
    radio.addEventListener('change', () => state.choose(number));
    return element('label', {}, radio, variant.name);
  });
  const refused = state.model.refusals.map(one =>
    element('span', { class: 'polyviz-muted' }, ...prose(`${one.name}: ${one.reason}`))
  );
  return element(
    'fieldset',
    { class: 'polyviz-filter' },
    element('legend', {}, 'Schedule'),
    ...radios,
    state.host === null ? null : schedulerChoice(state),
    ...refused
  );
}

function schedulerChoice(state: State): HTMLElement | null {
  const known = new Set(state.model.variants.map(one => one.name));
  const names = state.schedulers.filter(name => !known.has(name));
  if (names.length === 0) {
    return null;
  }
  const options = names.map(name => element('option', { value: name }, name));
  const select = element('select', { 'aria-label': 'Scheduler to add' }, ...options);
  const add = button('Add', () => state.ask({ ask: 'schedule', name: select.value }, `scheduling by ${select.value}`), {
    class: 'polyviz-small',
    'aria-label': 'Add the schedule of this scheduler'
  });
  return element('span', {}, select, add);
}

function parameters(state: State): readonly HTMLElement[] {
  if (state.model.parameters.length === 0) {
    return [];
  }
  const sliders = state.model.parameters.map(parameter => parameterControl(state, parameter));
  return [element('fieldset', { class: 'polyviz-filter' }, element('legend', {}, 'Sizes drawn'), ...sliders)];
}

function parameterControl(state: State, parameter: Parameter): HTMLElement {
  const name = element('code', {}, parameter.name);
  const isSmaller = parameter.given !== null && parameter.given !== parameter.value;
  const given = isSmaller ? element('span', { class: 'polyviz-muted' }, ` (${grouped(parameter.given)} as given)`) : null;
  if (state.host === null) {
    return element('span', {}, name, ` = ${parameter.value}`, given);
  }
  const value = element('span', {}, String(parameter.value));
  const slider = element('input', {
    type: 'range',
    min: parameter.low,
    max: parameter.high,
    'aria-label': `Size ${parameter.name}, ${parameter.source}`
  });
  slider.value = String(parameter.value);
  slider.addEventListener('input', () => (value.textContent = slider.value));
  slider.addEventListener('change', () => {
    const others = state.model.parameters.map((one): [string, number] => [one.name, one.value]);
    const values = { ...Object.fromEntries(others), [parameter.name]: Number(slider.value) };
    state.ask({ ask: 'values', values }, 'drawing');
  });
  return element('label', {}, name, slider, value, given);
}

/** The sentence of the selection, and below it what the kernel is busy with or complains about. */
export function statusView(state: State): HTMLElement {
  const sentence = element('p', { class: 'polyviz-sentence', 'aria-live': 'polite' });
  const busy = element('p', { class: 'polyviz-busy', role: 'status' });
  const said = element('p', { role: 'status', class: 'polyviz-muted' });
  const problem = element('p', { class: 'polyviz-problem', role: 'alert' });
  said.hidden = true;
  const tell = (): void => {
    sentence.textContent = state.light.sentence;
  };
  state.on(['selection', 'variant', 'model'], tell);
  state.on(['busy'], () => {
    busy.textContent = state.busy === '' ? '' : `The kernel is ${state.busy} …`;
    said.textContent = state.said;
    said.hidden = state.said === '';
    problem.textContent = state.problem;
  });
  tell();
  return element('div', { class: 'polyviz-status' }, sentence, busy, said, problem);
}
