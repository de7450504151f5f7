/** The order of blocks and that of threads, from JSON of unknown origin. */

import type { Dimension, SpaceGroup, SuperposedKernel, Superposition } from './model';
import { fieldsOf, listOf, mapOf, numberOf, numberOrNull, textOf, texts } from './values';

export function superpositionOf(value: unknown): Superposition {
  const fields = fieldsOf(value);
  return {
    functions: listOf(fields['functions'], item => {
      const one = fieldsOf(item);
      return {
        statement: textOf(one['statement']),
        outer: listOf(one['outer'], dimensionOf),
        regular: listOf(one['regular'], dimensionOf),
        text: textOf(one['text'])
      };
    }),
    kernels: listOf(fields['kernels'], kernelOf),
    conditions: listOf(fields['conditions'], item => {
      const one = fieldsOf(item);
      return { name: textOf(one['name']), asks: textOf(one['asks']), holds: one['holds'] === true, witness: textOf(one['witness']) };
    })
  };
}

function dimensionOf(value: unknown): Dimension {
  const fields = fieldsOf(value);
  return {
    text: textOf(fields['text']),
    kind: textOf(fields['kind']),
    axis: textOf(fields['axis']),
    tile: numberOrNull(fields['tile']),
    isReduction: fields['reduction'] === true
  };
}

function kernelOf(value: unknown): SuperposedKernel {
  const fields = fieldsOf(value);
  return {
    number: numberOf(fields['number']),
    blocks: groupOf(fields['blocks']),
    phases: listOf(fields['phases'], groupOf),
    barriers: listOf(fields['barriers'], item => {
      const one = fieldsOf(item);
      return {
        before: numberOf(one['before']),
        after: numberOf(one['after']),
        wraps: one['wraps'] === true,
        protects: textOf(one['protects'])
      };
    }),
    tiles: mapOf(fields['tiles'], item => numberOf(item)),
    threads: mapOf(fields['threads'], item => numberOf(item))
  };
}

function groupOf(value: unknown): SpaceGroup {
  const fields = fieldsOf(value);
  return {
    statements: texts(fields['statements']),
    loops: listOf(fields['loops'], item => {
      const one = fieldsOf(item);
      return { axis: textOf(one['axis']), kind: textOf(one['kind']), rows: mapOf(one['rows'], textOf) };
    }),
    text: textOf(fields['text'])
  };
}
