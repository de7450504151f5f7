/**
 * From JSON of unknown origin to a model. A notebook file may come from anywhere, so nothing is taken on trust: what is
 * missing or of another type becomes empty, and what cannot be a model at all becomes a sentence for the reader.
 */

import {
  VERSION,
  type Access,
  type ArrayShape,
  type Choice,
  type Decision,
  type Edit,
  type Lost,
  type Mapping,
  type Model,
  type Ordering,
  type Program,
  type Reason,
  type Relation,
  type Sentence,
  type SourceLoop,
  type Statement,
  type TreeNode,
  type Variant,
  type Violation
} from './model';
import { deviceOf } from './device';
import { comparisonOf } from './readTiming';
import { superpositionOf } from './readSuperposition';
import { fieldsOf, listOf, mapOf, numberOf, numberOrNull, point, textOf, texts, type Fields } from './values';

export type Reading = { readonly model: Model } | { readonly problem: string };

const DEEPEST = 64;
/** Points, pairs of them or times that are still read: some thousands are what polyviz writes. */
const MOST = 250_000;
/** Characters of a document that are still read: so many marks need less, and longer ones take seconds to be refused. */
const LONGEST = 40_000_000;

/** The value of an output, or of a document, whose text may be no JSON at all, or too long to look at. */
export function valueOf(value: unknown): unknown {
  if (typeof value !== 'string') {
    return value;
  }
  if (value.length > LONGEST) {
    return { oversize: value.length };
  }
  try {
    return JSON.parse(value);
  } catch (error) {
    return { unread: (error as Error).message };
  }
}

/** The model in `value`, or the sentence that says why there is none. */
export function readModel(value: unknown): Reading {
  const fields = fieldsOf(value);
  const version = fields['v'];
  if (typeof fields['oversize'] === 'number') {
    const [size, most] = [fields['oversize'], LONGEST].map(length => (length / 1e6).toFixed(1));
    return {
      problem:
        `This file is too large to be read: it has ${size} MB, and at most ${most} MB are read. ` +
        'polyviz itself saves less than 1 MB: save the view again.'
    };
  }
  if (fields['unread'] !== undefined) {
    return { problem: `This file is damaged: it is no JSON. ${textOf(fields['unread'])}` };
  }
  if (typeof version !== 'number') {
    return { problem: 'This is no polyviz view: it carries no version.' };
  }
  if (version > VERSION) {
    return {
      problem: `This view was saved by a newer polyviz (format ${version}; this one reads ${VERSION}). Upgrade polyviz to see it.`
    };
  }
  if (fields['kind'] !== 'inspector') {
    return { problem: `A polyviz view of kind “${textOf(fields['kind']) || 'unknown'}” has no linked views.` };
  }
  if (!Array.isArray(fields['statements']) || !Array.isArray(fields['variants'])) {
    return { problem: 'This polyviz view is damaged: its statements or schedules are missing.' };
  }
  const marks = marksOf(fields);
  if (marks > MOST) {
    return {
      problem:
        `This view is too large to be drawn: it lists ${marks} iterations or pairs of them, and at most ${MOST} are read. ` +
        'polyviz itself saves no more than a few thousand: save the view again.'
    };
  }
  return { model: modelOf(fields) };
}

/** How much there is to draw: the points of all statements, the pairs of all relations, or the times of a schedule. */
function marksOf(fields: Fields): number {
  const total = (lists: readonly unknown[]): number => lists.reduce((sum: number, one) => sum + (Array.isArray(one) ? one.length : 0), 0);
  const points = total(listOf(fields['statements'], one => fieldsOf(one)['points']));
  const pairs = total(listOf(fields['relations'], one => fieldsOf(one)['pairs']));
  const times = listOf(fields['variants'], one => total(Object.values(fieldsOf(fieldsOf(one)['times']))));
  return Math.max(points, pairs, ...times);
}

function modelOf(fields: Fields): Model {
  return {
    name: textOf(fields['name']),
    text: textOf(fields['text']),
    context: textOf(fields['context']),
    parameters: listOf(fields['parameters'], item => {
      const one = fieldsOf(item);
      const value = numberOf(one['value']);
      return {
        name: textOf(one['name']),
        source: textOf(one['source']),
        value,
        low: numberOf(one['low'], value),
        high: numberOf(one['high'], value),
        given: numberOrNull(one['given'])
      };
    }),
    arrays: listOf(fields['arrays'], arrayOf),
    statements: listOf(fields['statements'], statementOf),
    relations: listOf(fields['relations'], relationOf),
    variants: listOf(fields['variants'], variantOf),
    refusals: listOf(fields['refusals'], item => {
      const one = fieldsOf(item);
      return { name: textOf(one['name']), reason: textOf(one['reason']) };
    }),
    loops: listOf(fields['loops'], loopOf),
    comparison: fields['comparison'] ? comparisonOf(fields['comparison']) : null,
    edit: fields['edit'] ? editOf(fields['edit']) : null,
    lost: fields['lost'] ? lostOf(fields['lost']) : null,
    warnings: texts(fields['warnings']),
    notes: texts(fields['notes']),
    shortened: Array.isArray(fields['shortened']) && fields['shortened'].length > 0
  };
}

function statementOf(value: unknown): Statement {
  const fields = fieldsOf(value);
  const iterators = texts(fields['iterators']);
  const points = listOf(fields['points'], point).filter(one => one.length === iterators.length);
  return {
    name: textOf(fields['name']),
    iterators,
    domain: textOf(fields['domain']),
    source: textOf(fields['source']),
    line: numberOf(fields['line']),
    endLine: numberOf(fields['end_line']),
    loopLines: point(fields['loop_lines']),
    accesses: listOf(fields['accesses'], item => accessOf(item, iterators.length)),
    points,
    total: numberOrNull(fields['total']),
    notes: texts(fields['notes'])
  };
}

function accessOf(value: unknown, iterators: number): Access {
  const fields = fieldsOf(value);
  const rows = listOf(fields['subscripts'], point);
  const isWhole = Array.isArray(fields['subscripts']) && rows.every(row => row.length === iterators + 1);
  return { array: textOf(fields['array']), kind: textOf(fields['kind']), text: textOf(fields['text']), subscripts: isWhole ? rows : null, isConditional: fields['conditional'] === true };
}

function arrayOf(value: unknown): ArrayShape {
  const fields = fieldsOf(value);
  const extents = point(fields['extents']);
  const isWhole = Array.isArray(fields['extents']) && extents.every(extent => extent >= 0 && Number.isInteger(extent));
  return {
    name: textOf(fields['name']),
    extents: isWhole ? extents : null,
    elementBytes: Math.max(1, numberOf(fields['element_bytes'], 8))
  };
}

function relationOf(value: unknown): Relation {
  const fields = fieldsOf(value);
  return {
    kind: textOf(fields['kind']),
    array: textOf(fields['array']),
    source: textOf(fields['source']),
    sink: textOf(fields['sink']),
    distances: texts(fields['distances']),
    relation: textOf(fields['relation']),
    count: numberOrNull(fields['count']),
    pairs: listOf(fields['pairs'], point)
  };
}

function variantOf(value: unknown): Variant {
  const fields = fieldsOf(value);
  return {
    ...orderingOf(fields),
    name: textOf(fields['name']),
    decisions: listOf(fields['decisions'], decisionOf),
    loops: listOf(fields['loops'], item => ({ ...sentenceOf(item), isFree: fieldsOf(item)['parallel'] === true })),
    reasons: Array.isArray(fields['reasons']) ? listOf(fields['reasons'], reasonOf) : null,
    carried: listOf(fields['carried'], point),
    program: fields['program'] ? programOf(fields['program']) : null,
    mapping: fields['mapping'] ? mappingOf(fields['mapping']) : null,
    superposition: fields['superposition'] ? superpositionOf(fields['superposition']) : null,
    device: fields['device'] ? deviceOf(fields['device']) : null,
    notes: texts(fields['notes'])
  };
}

function decisionOf(value: unknown): Decision {
  const fields = fieldsOf(value);
  return { step: textOf(fields['step']), text: textOf(fields['text']), statements: texts(fields['statements']) };
}

function mappingOf(value: unknown): Mapping {
  const fields = fieldsOf(value);
  return { target: textOf(fields['target']), decisions: listOf(fields['decisions'], decisionOf), text: textOf(fields['text']) };
}

function sentenceOf(value: unknown): Sentence {
  const fields = fieldsOf(value);
  return { text: textOf(fields['text']), violation: fields['violation'] ? violationOf(fields['violation']) : null };
}

function reasonOf(value: unknown): Reason {
  const fields = fieldsOf(value);
  const { topic, address, statements } = fields;
  return { ...sentenceOf(value), topic: textOf(topic), address: textOf(address), statements: texts(statements) };
}

function orderingOf(fields: Fields): Ordering {
  return { tree: nodeOf(fields['tree'], 0), times: mapOf(fields['times'], item => listOf(item, point)) };
}

function nodeOf(value: unknown, depth: number): TreeNode {
  const fields = fieldsOf(value);
  return {
    kind: textOf(fields['kind']),
    label: textOf(fields['label']),
    statements: texts(fields['statements']),
    members: listOf(fields['members'], item => {
      const one = fieldsOf(item);
      return {
        rows: mapOf(one['rows'], textOf),
        coincident: one['coincident'] === true,
        reductionParallel: one['reduction_parallel'] === true,
        role: textOf(one['role']),
        time: numberOf(one['time'], -1),
        address: textOf(one['address'])
      };
    }),
    permutable: fields['permutable'] === true,
    time: numberOf(fields['time'], -1),
    children: depth < DEEPEST ? listOf(fields['children'], child => nodeOf(child, depth + 1)) : []
  };
}

function programOf(value: unknown): Program {
  const fields = fieldsOf(value);
  const lines = Object.entries(fieldsOf(fields['lines'])).map(
    ([line, statement]): [number, string] => [Number(line), textOf(statement)]
  );
  return {
    target: textOf(fields['target']),
    text: textOf(fields['text']),
    lines: new Map(lines),
    notes: texts(fields['notes'])
  };
}

function loopOf(value: unknown): SourceLoop {
  const fields = fieldsOf(value);
  return {
    loop: textOf(fields['loop']),
    depth: numberOf(fields['depth']),
    statements: texts(fields['statements']),
    parallel: fields['parallel'] === true,
    reductionParallel: fields['reduction_parallel'] === true,
    explanation: textOf(fields['explanation']),
    witness: fields['witness'] ? violationOf(fields['witness']) : null
  };
}

function violationOf(value: unknown): Violation {
  const fields = fieldsOf(value);
  return {
    kind: textOf(fields['kind']),
    array: textOf(fields['array']),
    source: textOf(fields['source']),
    sourceInstance: point(fields['source_instance']),
    sink: textOf(fields['sink']),
    sinkInstance: point(fields['sink_instance']),
    explanation: textOf(fields['explanation'])
  };
}

function lostOf(value: unknown): Lost {
  const fields = fieldsOf(value);
  return { script: textOf(fields['script']), problem: textOf(fields['problem']) };
}

function editOf(value: unknown): Edit {
  const fields = fieldsOf(value);
  return {
    variant: textOf(fields['variant']),
    start: textOf(fields['start']),
    steps: listOf(fields['steps'], item => {
      const one = fieldsOf(item);
      return { text: textOf(one['text']), decision: textOf(one['decision']) };
    }),
    undone: numberOf(fields['undone']),
    script: textOf(fields['script']),
    python: textOf(fields['python'])
  };
}

/** The moves that a kernel answers with. */
export function readChoices(value: unknown): readonly Choice[] {
  return listOf(value, item => {
    const fields = fieldsOf(item);
    return {
      place: typeof fields['place'] === 'number' ? fields['place'] : null,
      move: textOf(fields['move']),
      label: textOf(fields['label']),
      at: typeof fields['at'] === 'string' ? fields['at'] : null,
      effect: fields['effect'] === null ? null : textOf(fields['effect']),
      arguments: fieldsOf(fields['arguments']),
      legal: fields['legal'] === true,
      reason: textOf(fields['reason']),
      violation: fields['violation'] ? violationOf(fields['violation']) : null,
      after: fields['after'] ? orderingOf(fieldsOf(fields['after'])) : null
    };
  });
}
