/** Comparisons and searches, from JSON of unknown origin. */

import type { Comparison, ComparisonRow, Roofline, Tuning } from './model';
import { fieldsOf, listOf, numberOf, numberOrNull, point, textOf, texts } from './values';

export function comparisonOf(value: unknown): Comparison {
  const fields = fieldsOf(value);
  return {
    rows: listOf(fields['rows'], rowOf),
    baseline: textOf(fields['baseline']),
    best: textOf(fields['best']),
    verdict: textOf(fields['verdict']),
    machine: textOf(fields['machine']),
    notes: texts(fields['notes']),
    roofline: rooflineOf(fields['roofline'])
  };
}

/** Null where a figure is missing that has to be divided by. */
function rooflineOf(value: unknown): Roofline | null {
  const fields = fieldsOf(value);
  const roof = {
    operations: numberOf(fields['operations']),
    bytes: numberOf(fields['bytes']),
    peak: numberOf(fields['peak']),
    memory: numberOf(fields['memory']),
    cache: numberOf(fields['cache']),
    limit: numberOf(fields['limit'])
  };
  const isWhole = Object.values(roof).every(one => one > 0);
  return isWhole ? { ...roof, bottleneck: textOf(fields['bottleneck']), dtype: textOf(fields['dtype']) } : null;
}

function rowOf(value: unknown): ComparisonRow {
  const fields = fieldsOf(value);
  return {
    label: textOf(fields['label']),
    status: textOf(fields['status']),
    verified: typeof fields['verified'] === 'boolean' ? fields['verified'] : null,
    median: numberOrNull(fields['median']),
    interval: Array.isArray(fields['interval']) ? point(fields['interval']) : null,
    speedup: numberOrNull(fields['speedup']),
    speedupInterval: Array.isArray(fields['speedup_interval']) ? point(fields['speedup_interval']) : null,
    note: textOf(fields['note']),
    isBaseline: fields['is_baseline'] === true
  };
}

export function tuningOf(value: unknown): Tuning {
  const fields = fieldsOf(value);
  return {
    title: textOf(fields['title']),
    outcome: textOf(fields['outcome']),
    trials: listOf(fields['trials'], item => {
      const one = fieldsOf(item);
      return {
        name: textOf(one['name']),
        status: textOf(one['status']),
        speedup: numberOrNull(one['speedup']),
        elapsed: numberOf(one['elapsed']),
        note: textOf(one['note']),
        isBest: one['best'] === true
      };
    })
  };
}

/** Results are combined of results of parts, and no further. */
const DEEPEST = 4;

/** The comparisons and searches in the JSON of a result, in the order in which they are shown. */
export function timingsIn(value: unknown, depth = 0): { readonly comparisons: readonly Comparison[]; readonly searches: readonly Tuning[] } {
  const fields = fieldsOf(value);
  if (fields['kind'] === 'comparison') {
    return { comparisons: [comparisonOf(value)], searches: [] };
  }
  if (fields['kind'] === 'tuning') {
    return { comparisons: [], searches: [tuningOf(value)] };
  }
  const isWhole = fields['kind'] === 'combined' && depth < DEEPEST;
  const parts = isWhole ? listOf(fields['sections'], item => timingsIn(fieldsOf(item)['model'], depth + 1)) : [];
  return { comparisons: parts.flatMap(part => part.comparisons), searches: parts.flatMap(part => part.searches) };
}
