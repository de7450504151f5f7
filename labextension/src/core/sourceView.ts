/** The loops as written, and the generated program: both light with the selection. */

import { button, element, items } from './dom';
import { lineList } from './lineList';
import { NOTHING, statementNumber } from './selection';
import type { State } from './state';

export function sourceView(state: State): HTMLElement {
  const root = element('div', {});
  const draw = (): void => {
    const list = lineList(`Source of ${state.model.name}`, state.model.text, 1, line =>
      state.select({ what: 'line', line })
    );
    root.replaceChildren(list.root);
    marker = () => list.mark(state.light.lines);
    marker();
  };
  let marker = (): void => undefined;
  state.on(['model'], draw);
  state.on(['selection', 'variant'], () => marker());
  draw();
  return root;
}

export function codeView(state: State): HTMLElement {
  const root = element('div', {});
  let marker = (): void => undefined;
  const draw = (): void => {
    const program = state.variant?.program ?? null;
    if (program === null) {
      root.replaceChildren(element('p', {}, 'No program was generated for this schedule.'));
      marker = () => undefined;
      return;
    }
    const pick = (line: number): void => {
      const statement = statementNumber(state.model, program.lines.get(line) ?? '');
      state.select(statement < 0 ? NOTHING : { what: 'statement', statement });
    };
    const list = lineList(`Generated program for ${program.target}`, program.text, 1, pick);
    const copy = button('Copy', () => void navigator.clipboard?.writeText(program.text));
    root.replaceChildren(list.root, element('p', { class: 'polyviz-row' }, copy));
    root.append(...[items(program.notes)].filter(one => one !== null));
    marker = () => {
      const lit = [...program.lines].filter(([, name]) =>
        state.light.statements.has(statementNumber(state.model, name))
      );
      list.mark(new Set(lit.map(([line]) => line)));
    };
    marker();
  };
  state.on(['model', 'variant'], draw);
  state.on(['selection'], () => marker());
  draw();
  return root;
}
