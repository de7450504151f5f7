import { expect, test } from 'vitest';

import { hasMagic, inspected } from '../../src/lab/inspectCell';

const LOOP = 'for i in range(n):\n    A[i] = 0';

test.each([
  [LOOP, `%%polyopt --inspect\n${LOOP}`],
  [`%%polyopt\n${LOOP}`, `%%polyopt --inspect\n${LOOP}`],
  [`%%polyopt -s isl\n${LOOP}`, `%%polyopt --inspect -s isl\n${LOOP}`],
  [`%%polyopt --inspect\n${LOOP}`, `%%polyopt --inspect\n${LOOP}`],
  [`%%polyopt --compare -s isl,pluto -t c --tile=4 --tune --name f --no-verify\n${LOOP}`, `%%polyopt --inspect -s isl,pluto --name f\n${LOOP}`],
  ['def f(A):\n    pass', '%%polyopt --inspect\ndef f(A):\n    pass'],
  ['x = 1', null],
  [`%%timeit\n${LOOP}`, null],
  ['', null]
])('%j', (text, expected) => {
  expect(inspected(text)).toBe(expected);
});

test.each([
  [`%%polyopt\n${LOOP}`, true],
  [`%%polyopt --inspect\n${LOOP}`, true],
  [LOOP, false],
  [`%%polyoptimal\n${LOOP}`, false],
  [`%%polycheck columns\n${LOOP}`, false]
])('the magic is on %j: %j', (text, expected) => {
  expect(hasMagic(text)).toBe(expected);
});
