/** The loops as written, and the generated program: both light with the selection. */

import { codeLoops } from './codeLoops';
import { button, element, folding, items, prose } from './dom';
import { lineList } from './lineList';
import { NOTHING, statementNumber } from './selection';
import type { Program, Variant } from './model';
import type { Change, State } from './state';

export function sourceView(state: State): HTMLElement {
  // A model of another text gets views of its own.
  const list = lineList(`Source of ${state.model.name}`, state.model.text, 1, line => state.select({ what: 'line', line }));
  const mark = (): void => list.mark(state.light.lines);
  state.on(['selection', 'variant'], mark);
  mark();
  return element('div', {}, list.root);
}

export function codeView(state: State): HTMLElement {
  const root = element('div', {});
  const more = element('div', {});
  let marker = (): void => undefined;
  let drawn: Program | null = null;
  const draw = (told: readonly Change[]): void => {
    const { variant } = state;
    const program = variant?.program ?? null;
    more.replaceChildren(...(variant === undefined || program === null ? [] : beyond(variant, variant.name === state.model.edit?.variant)));
    if (!told.includes('order') && drawn !== null && isSame(drawn, program)) {
      // Only more is known of the same order: whoever reads or walks through the lines stays there.
      marker();
      return;
    }
    drawn = program;
    if (variant === undefined || program === null) {
      root.replaceChildren(element('p', {}, 'No program was generated for this schedule.'));
      marker = () => undefined;
      return;
    }
    const loops = codeLoops(program, variant);
    const pick = (line: number): void => {
      const statement = statementNumber(state.model, program.lines.get(line) ?? '');
      const found = loops.get(line);
      if (statement >= 0) {
        state.select({ what: 'statement', statement });
      } else if (found === undefined) {
        state.select(NOTHING);
      } else if (found.loop !== '') {
        state.select({ what: 'loop', loop: found.loop });
      } else {
        state.select({ what: 'statements', statements: found.statements.map(name => statementNumber(state.model, name)) });
      }
    };
    const list = lineList(`Generated program for ${program.target}`, program.text, 1, pick);
    const copy = button('Copy', () => void navigator.clipboard?.writeText(program.text));
    root.replaceChildren(list.root, element('p', { class: 'polyviz-row' }, copy));
    root.append(...[items(program.notes)].filter(one => one !== null), more);
    marker = () => {
      const lit = [...program.lines].filter(([, name]) =>
        state.light.statements.has(statementNumber(state.model, name))
      );
      const heads = [...loops].filter(([, { loop }]) => state.light.loops.has(loop));
      list.mark(new Set([...lit, ...heads].map(([line]) => line)));
    };
    marker();
  };
  state.on(['model', 'variant'], draw);
  state.on(['selection'], () => marker());
  draw(['order']);
  return root;
}

/** What was decided for the program that is compiled and timed: it is another text than the one above. */
function beyond({ mapping }: Variant, isByHand: boolean): readonly HTMLElement[] {
  const told = (text: string): HTMLElement => element('p', { class: 'polyviz-muted' }, `This is the order of the schedule, for reading. The program ${text}`);
  if (isByHand || mapping?.decisions.length === 0) {
    return [told('that is compiled and timed has the same loops.')];
  }
  if (mapping === null) {
    return [told('that is compiled and timed may tile, move and vectorise these loops further: unfold Why? to know.')];
  }
  const decisions = mapping.decisions.map(one => element('li', {}, element('code', {}, one.step), ' ', ...prose(one.text)));
  const text = mapping.text === '' ? null : folding(`Program for ${mapping.target}`, false, element('pre', { class: 'polyviz-script', tabindex: 0 }, mapping.text));
  return [told(`for ${mapping.target}, which is compiled and timed, is made from it. What was decided for it:`), element('ul', {}, ...decisions), ...(text === null ? [] : [text])];
}

function isSame(one: Program, other: Program | null): boolean {
  return one.target === other?.target && one.text === other.text && one.notes.join() === other.notes.join();
}
