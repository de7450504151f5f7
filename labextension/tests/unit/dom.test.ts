import { beforeEach, expect, test } from 'vitest';

import { button, element, keepingFocus, prose } from '../../src/core/dom';

const root = element('div', {});

function draw(names: readonly string[], disabled: readonly string[] = []): void {
  const made = names.map(name => button(name, () => undefined));
  made.forEach(one => (one.disabled = disabled.includes(one.textContent ?? '')));
  root.replaceChildren(...made);
}

const focusOn = (name: string): void => [...root.querySelectorAll('button')].find(one => one.textContent === name)?.focus();

beforeEach(() => {
  document.body.replaceChildren(root);
  draw(['Undo', 'Redo', 'Copy']);
});

test('a control without a label is found again by its text', () => {
  focusOn('Redo');
  keepingFocus(root, () => draw(['Show', 'Undo', 'Redo', 'Copy']));
  expect(document.activeElement?.textContent).toBe('Redo');
});

test('the neighbour gets the focus of what cannot be used any more', () => {
  focusOn('Undo');
  keepingFocus(root, () => draw(['Undo', 'Redo', 'Copy'], ['Undo']));
  expect(document.activeElement?.textContent).toBe('Redo');
  focusOn('Copy');
  keepingFocus(root, () => draw(['Undo', 'Redo', 'Copy'], ['Redo', 'Copy']));
  expect(document.activeElement?.textContent).toBe('Undo');
});

test('what is gone leaves the focus where it was', () => {
  focusOn('Redo');
  keepingFocus(root, () => draw(['Undo', 'Copy']));
  expect(document.activeElement?.textContent).toBe('Copy');
});

test('a focus elsewhere stays there', () => {
  const other = button('Other', () => undefined);
  document.body.append(other);
  other.focus();
  keepingFocus(root, () => draw(['Undo']));
  expect(document.activeElement).toBe(other);
});

test('sets what stands between backticks as code, as text', () => {
  const made = element('p', {}, ...prose('`<b>` leaves `A`, a ` alone stays'));
  expect([...made.querySelectorAll('code')].map(one => one.textContent)).toEqual(['<b>', 'A']);
  expect(made.textContent).toBe('<b> leaves A, a ` alone stays');
});
