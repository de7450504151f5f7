import { afterEach, expect, test } from 'vitest';

import { breakable, element } from '../../src/core/dom';
import { Inspector } from '../../src/core/inspector';
import { capitalised } from '../../src/core/loops';
import { threadPicture, within } from '../../src/core/threadPicture';
import { sample } from './sample';

const LONG = 'smoothed_temperature_field';

afterEach(() => document.body.replaceChildren());

/** The sample with another statement and array, and a source line whose first word is wider than the view may be. */
function draw(statement: string): HTMLElement {
  const renamed = JSON.parse(JSON.stringify(sample()).replaceAll('"S0"', JSON.stringify(statement)).replaceAll('"A"', `"${LONG}"`).replace('A[i, j] = ', `${LONG}[row_index, j] = `)) as unknown;
  const { root } = new Inspector(renamed);
  document.body.append(root);
  return root;
}

const titles = (root: HTMLElement): (string | null)[] => [...root.querySelectorAll('[aria-label=Domain] text.polyviz-title')].map(one => one.textContent);

test('a long name may go on below behind its underscores, and stays the same text', () => {
  const code = element('code', {}, ...breakable('smoothed_field[row_index'));
  expect(code.innerHTML).toBe('smoothed_<wbr>field[<wbr>row_<wbr>index');
  expect(code.textContent).toBe('smoothed_field[row_index');
  expect(element('code', {}, ...breakable('A')).innerHTML).toBe('A');
});

test('long names in the source and among the dependences may be broken', () => {
  const root = draw('S0');
  const [line] = [...root.querySelectorAll('[aria-label=Source] code')].slice(3);
  expect(line!.textContent).toBe(`            ${LONG}[row_index, j] = A[i - 1, j + 1]`);
  expect(line!.querySelectorAll('wbr')).toHaveLength(4);
  expect(root.querySelectorAll('[aria-label=Dependences] td:nth-child(2) wbr')).toHaveLength(2);
});

test('a title that is longer than its picture ends in an ellipsis', () => {
  expect(titles(draw('S0'))).toEqual(['S0']);
  const root = draw('the_statement_that_smooths_the_field_of_temperatures');
  const [title] = titles(root);
  expect(title).toMatch(/^the_statement_that_s.*…$/);
  const picture = root.querySelector('[aria-label=Domain] svg.polyviz-picture')!;
  expect(7.6 * title!.length).toBeLessThan(Number(picture.getAttribute('width')));
});

test('the picture of an order is called after its schedule', () => {
  const root = draw('S0');
  root.querySelector<HTMLInputElement>('[aria-label="Space: scheduled"]')!.click();
  expect(titles(root)).toEqual(['schedule original']);
});

test('no name of a program gets a capital letter', () => {
  expect(capitalised('loop i is parallel')).toBe('Loop i is parallel');
  expect(capitalised('iteration i=0 writes A[0]')).toBe('Iteration i=0 writes A[0]');
  expect(capitalised('count[i] stays the same')).toBe('count[i] stays the same');
  expect(capitalised('loop_count[i] stays the same')).toBe('loop_count[i] stays the same');
});

test('rows of threads begin behind their name', () => {
  const placed = [0, 1].flatMap(i => [0, 1].map(j => ({ iteration: [i, j], block: [0, 0, 0], thread: [j, i, 0] })));
  const edgeOf = (iterators: readonly string[]): number => {
    const root = threadPicture({ title: 'S0', kernel: 0, statement: 'S0', iterators, block: [2, 2, 1], rules: [], placed, note: '' } as unknown as Parameters<typeof threadPicture>[0]);
    return Number(/^M(\d+)/.exec(root.querySelector('.polyviz-thread-border')!.getAttribute('d')!)![1]);
  };
  expect(edgeOf(['i', 'j'])).toBe(26);
  expect(edgeOf(['time_step', 'j'])).toBeGreaterThan(7 * 'time_step ↓'.length - 1);
});

test('what the keys have come to is in sight', () => {
  expect(within(0, 100, 300)).toBe(0);
  expect(within(0, 400, 300)).toBe(116);
  expect(within(500, 400, 300)).toBe(384);
});
