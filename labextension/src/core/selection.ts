/** One selection, and all that it lights in every view. */

import { capitalised, carries, decisionOf, loopNames, loopsOf, whyOf, type Loop } from './loops';
import type { Model, Relation, Variant, Violation } from './model';
import { INPUT } from './palette';

export type Selection =
  | { readonly what: 'nothing' }
  | { readonly what: 'instance'; readonly statement: number; readonly instance: number }
  | { readonly what: 'statement'; readonly statement: number }
  | { readonly what: 'statements'; readonly statements: readonly number[] }
  | { readonly what: 'loop'; readonly loop: string }
  | { readonly what: 'relation'; readonly relation: number }
  | { readonly what: 'line'; readonly line: number }
  | { readonly what: 'violation'; readonly violation: Violation };

export const NOTHING: Selection = { what: 'nothing' };

/** What is lit. `instances` holds keys of single instances; statements in `whole` are lit with all of theirs. */
export interface Light {
  readonly isEmpty: boolean;
  readonly statements: ReadonlySet<number>;
  readonly whole: ReadonlySet<number>;
  readonly instances: ReadonlySet<string>;
  readonly relations: ReadonlySet<number>;
  /** Lit relations of which only the pairs at a lit instance are. */
  readonly onlyAtInstance: boolean;
  readonly loops: ReadonlySet<string>;
  readonly lines: ReadonlySet<number>;
  readonly sentence: string;
}

export function instanceKey(statement: number, instance: number): string {
  return `${statement}/${instance}`;
}

interface Found {
  statements?: readonly number[];
  whole?: readonly number[];
  instances?: readonly string[];
  relations?: readonly number[];
  onlyAtInstance?: boolean;
  loops?: readonly string[];
  lines?: readonly number[];
  sentence: string;
}

function light(found: Found, isEmpty = false): Light {
  return {
    isEmpty,
    statements: new Set(found.statements),
    whole: new Set(found.whole),
    instances: new Set(found.instances),
    relations: new Set(found.relations),
    onlyAtInstance: found.onlyAtInstance ?? false,
    loops: new Set(found.loops),
    lines: new Set(found.lines),
    sentence: found.sentence
  };
}

/** A relation with more letters than these is no longer read. */
const LONGEST_RELATION = 160;
const HINT = 'Pick an iteration, a line, a loop or a dependence: it lights in all views.';

/** Dependences between reads light only where they are not among the `hidden` kinds: they order nothing. */
export function lightOf(model: Model, variant: Variant, selection: Selection, hidden: ReadonlySet<string> = new Set([INPUT])): Light {
  switch (selection.what) {
    case 'instance':
      return ofInstance(model, variant, selection, hidden.has(INPUT));
    case 'statement':
      return ofStatements(model, variant, [selection.statement]);
    case 'statements':
      return ofStatements(model, variant, selection.statements);
    case 'loop':
      return ofLoop(model, variant, selection.loop);
    case 'relation':
      return ofRelation(model, variant, selection.relation);
    case 'line':
      return ofLine(model, variant, selection.line);
    case 'violation':
      return ofViolation(model, selection.violation);
    default:
      return light({ sentence: HINT }, true);
  }
}

export function statementNumber(model: Model, name: string): number {
  return model.statements.findIndex(one => one.name === name);
}

export function instanceText(model: Model, statement: number, instance: number): string {
  const found = model.statements[statement];
  return `${found?.name ?? '?'}[${(found?.points[instance] ?? []).join(', ')}]`;
}

function ofInstance(
  model: Model,
  variant: Variant,
  { statement: number, instance }: { readonly statement: number; readonly instance: number },
  withoutInputs: boolean
): Light {
  const statement = model.statements[number];
  const position = statement?.points[instance];
  if (statement === undefined || position === undefined) {
    return light({ sentence: HINT }, true);
  }
  const around = loopsAround(variant, statement.name);
  const time = variant.times.get(statement.name)?.[instance] ?? [];
  const touching = touchingOf(model, number, instance, withoutInputs);
  const values = around.map(loop => `${loop.member.rows.get(statement.name) ?? '?'} = ${time[loop.member.time] ?? '?'}`);
  const when = values.length > 0 ? `, runs at ${values.join(', ')}` : '';
  return light({
    statements: [number],
    instances: [instanceKey(number, instance), ...touching.partners],
    relations: touching.relations,
    onlyAtInstance: true,
    loops: around.map(loop => loop.id),
    lines: linesOf(model, [number]),
    sentence: `${instanceText(model, number, instance)}: ${statement.source}${when}. ${touching.isPart ? 'Of the dependences drawn' : 'Dependences'}: ${touching.incoming} in, ${touching.outgoing} out.`
  });
}

interface Touching {
  readonly relations: readonly number[];
  readonly partners: readonly string[];
  readonly incoming: number;
  readonly outgoing: number;
  /** Only some pairs of a dependence of this statement are drawn, so there may be others at the instance. */
  readonly isPart: boolean;
}

/** The dependences at one instance, and the instances at their other ends. */
function touchingOf(model: Model, statement: number, instance: number, withoutInputs: boolean): Touching {
  const relations: number[] = [];
  const partners: string[] = [];
  let incoming = 0;
  let outgoing = 0;
  let isPart = false;
  model.relations.forEach((relation, number) => {
    if (withoutInputs && relation.kind === INPUT) {
      return;
    }
    const source = statementNumber(model, relation.source);
    const sink = statementNumber(model, relation.sink);
    isPart ||= [source, sink].includes(statement) && relation.pairs.length !== relation.count;
    const before = partners.length;
    for (const [from = -1, to = -1] of relation.pairs) {
      if (source === statement && from === instance) {
        outgoing += 1;
        partners.push(instanceKey(sink, to));
      } else if (sink === statement && to === instance) {
        incoming += 1;
        partners.push(instanceKey(source, from));
      }
    }
    if (partners.length > before) {
      relations.push(number);
    }
  });
  return { relations, partners, incoming, outgoing, isPart };
}

function ofStatements(model: Model, variant: Variant, numbers: readonly number[]): Light {
  const names = numbers.map(number => model.statements[number]?.name ?? '');
  const loops = loopsOf(variant).filter(loop => names.some(name => loop.statements.includes(name)));
  const sentences = numbers.map(number => statementSentence(model, number));
  return light({
    statements: numbers,
    whole: numbers,
    relations: relationsAt(model, names),
    loops: loops.map(loop => loop.id),
    lines: linesOf(model, numbers),
    sentence: sentences.join(' ')
  });
}

function statementSentence(model: Model, number: number): string {
  const statement = model.statements[number];
  if (statement === undefined) {
    return '';
  }
  const times = statement.total === null ? 'very many times' : `${statement.total} times for the values shown`;
  return `${statement.name}, line ${statement.line}: ${statement.source} runs ${times}, for ${statement.domain || 'one instance'}.`;
}

function ofLoop(model: Model, variant: Variant, id: string): Light {
  const loop = loopsOf(variant).find(one => one.id === id);
  if (loop === undefined) {
    return light({ sentence: HINT }, true);
  }
  const numbers = loop.statements.map(name => statementNumber(model, name));
  const relations = model.relations.map((_, number) => number);
  return light({
    statements: numbers,
    whole: numbers,
    relations: relations.filter(number => carries(loop, variant, model, number)),
    loops: [id],
    lines: [...linesOf(model, numbers), ...sourceLinesOfLoop(model, loop)],
    sentence: `${whyOf(model, variant, loop)} ${decisionOf(variant, loop)}`.trim()
  });
}

/** The `for` lines of source loops that `loop` runs over unchanged. */
function sourceLinesOfLoop(model: Model, loop: Loop): readonly number[] {
  return model.statements.flatMap(statement => {
    const depth = statement.iterators.indexOf(loop.member.rows.get(statement.name) ?? '');
    const line = statement.loopLines[depth];
    return loop.statements.includes(statement.name) && line !== undefined ? [line] : [];
  });
}

function ofRelation(model: Model, variant: Variant, number: number): Light {
  const relation = model.relations[number];
  if (relation === undefined) {
    return light({ sentence: HINT }, true);
  }
  const source = statementNumber(model, relation.source);
  const sink = statementNumber(model, relation.sink);
  const ends = relation.pairs.flatMap(([from = -1, to = -1]) => [instanceKey(source, from), instanceKey(sink, to)]);
  const carriers = loopsOf(variant).filter(loop => carries(loop, variant, model, number));
  const by = carriers.length > 0 ? `Carried by ${loopNames(carriers).join(', ')}.` : 'No loop carries it: the order of statements keeps it.';
  const hasDistances = relation.distances.length > 0;
  const distance = hasDistances ? ` Distance ${relation.distances.join(' or ')}.` : '';
  // A long condition says nothing that the distances do not say better.
  const pairs = hasDistances && relation.relation.length > LONGEST_RELATION ? '' : `: ${relation.relation}`;
  return light({
    statements: [source, sink],
    instances: ends,
    relations: [number],
    loops: carriers.map(loop => loop.id),
    lines: linesOf(model, [source, sink]),
    sentence: `The ${relation.kind} dependence through ${relation.array}, ${relation.source} → ${relation.sink}${pairs}.${distance} ${relation.kind === INPUT ? 'Two reads may come in any order.' : by}`
  });
}

function ofLine(model: Model, variant: Variant, line: number): Light {
  const statements = model.statements.flatMap((one, number) =>
    one.line <= line && line <= one.endLine ? [number] : []
  );
  if (statements.length > 0) {
    return ofStatements(model, variant, statements);
  }
  const inside = model.statements.flatMap((one, number) => (one.loopLines.includes(line) ? [number] : []));
  if (inside.length === 0) {
    return light({ lines: [line], sentence: `Line ${line} is outside of the loops.` }, true);
  }
  return ofSourceLoop(model, variant, line, inside);
}

function ofSourceLoop(model: Model, variant: Variant, line: number, numbers: readonly number[]): Light {
  const same = loopsOf(variant).filter(loop => sourceLinesOfLoop(model, loop).includes(line));
  const first = model.statements[numbers[0] ?? -1];
  const depth = first?.loopLines.indexOf(line) ?? -1;
  const iterator = first?.iterators[depth] ?? '';
  const known = model.loops.find(
    loop => loop.loop === iterator && loop.depth === depth && loop.statements.includes(first?.name ?? '')
  );
  return light({
    statements: numbers,
    whole: numbers,
    relations: model.relations.map((_, number) => number).filter(number => same.some(loop => carries(loop, variant, model, number))),
    loops: same.map(loop => loop.id),
    lines: [line, ...linesOf(model, numbers)],
    sentence: `As written, ${known?.explanation || `loop ${iterator}`}.`.replace('..', '.')
  });
}

function ofViolation(model: Model, violation: Violation): Light {
  const ends: readonly (readonly [string, readonly number[]])[] = [
    [violation.source, violation.sourceInstance],
    [violation.sink, violation.sinkInstance]
  ];
  const numbers = ends.map(([name]) => statementNumber(model, name));
  return light({
    statements: numbers,
    instances: ends.map(([name, instance]) => instanceKey(statementNumber(model, name), instanceNumber(model, name, instance))),
    lines: linesOf(model, numbers),
    sentence: capitalised(violation.explanation)
  });
}

/** The number of an instance among the drawn ones, -1 when it is not drawn. */
export function instanceNumber(model: Model, statement: string, instance: readonly number[]): number {
  const points = model.statements[statementNumber(model, statement)]?.points ?? [];
  return points.findIndex(point => point.length === instance.length && point.every((value, axis) => value === instance[axis]));
}

function loopsAround(variant: Variant, statement: string): readonly Loop[] {
  return loopsOf(variant).filter(loop => loop.statements.includes(statement));
}

function relationsAt(model: Model, names: readonly string[]): readonly number[] {
  return model.relations.flatMap((relation, number) =>
    names.includes(relation.source) || names.includes(relation.sink) ? [number] : []
  );
}

function linesOf(model: Model, numbers: readonly number[]): readonly number[] {
  return numbers.flatMap(number => {
    const statement = model.statements[number];
    const count = statement === undefined ? 0 : statement.endLine - statement.line + 1;
    return Array.from({ length: Math.max(0, Math.min(count, 1000)) }, (_, place) => (statement?.line ?? 0) + place);
  });
}

/** The keys of the two instances in the wrong order. */
export function pairOf(model: Model, violation: Violation): readonly string[] {
  const ends: readonly (readonly [string, readonly number[]])[] = [
    [violation.source, violation.sourceInstance],
    [violation.sink, violation.sinkInstance]
  ];
  return ends.map(([name, instance]) => instanceKey(statementNumber(model, name), instanceNumber(model, name, instance)));
}

/** The drawn pairs of a dependence as keys of their instances. */
export function pairsOf(model: Model, relation: Relation): readonly (readonly [string, string])[] {
  const source = statementNumber(model, relation.source);
  const sink = statementNumber(model, relation.sink);
  return relation.pairs.map(([from = -1, to = -1]) => [instanceKey(source, from), instanceKey(sink, to)]);
}
