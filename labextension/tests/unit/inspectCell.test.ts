import { expect, test } from 'vitest';

import { inspected } from '../../src/lab/inspectCell';

const LOOP = 'for i in range(n):\n    A[i] = 0';

test.each([
  [LOOP, `%%polyopt --inspect\n${LOOP}`],
  [`%%polyopt\n${LOOP}`, `%%polyopt --inspect\n${LOOP}`],
  [`%%polyopt -s isl\n${LOOP}`, `%%polyopt --inspect -s isl\n${LOOP}`],
  [`%%polyopt --inspect\n${LOOP}`, `%%polyopt --inspect\n${LOOP}`],
  ['def f(A):\n    pass', '%%polyopt --inspect\ndef f(A):\n    pass'],
  ['x = 1', null],
  [`%%timeit\n${LOOP}`, null],
  ['', null]
])('%j', (text, expected) => {
  expect(inspected(text)).toBe(expected);
});
