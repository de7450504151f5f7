/** Why each loop is what it is: as written, and in the chosen schedule; then what the scheduler decided. */

import { element } from './dom';
import { loopsOf, whyOf } from './loops';
import type { State } from './state';

export function whyView(state: State): HTMLElement {
  const root = element('div', {});
  const draw = (): void => {
    const { model, variant } = state;
    const written = model.loops.map(loop => {
      const { witness } = loop;
      const show = witness === null ? undefined : (): void => state.select({ what: 'violation', violation: witness });
      return sentence(loop.explanation || `loop ${loop.loop}`, loop.depth, show);
    });
    root.replaceChildren(element('p', { class: 'polyviz-word' }, 'As written'), element('ul', {}, ...written));
    if (variant !== undefined) {
      const loops = loopsOf(variant).map(loop =>
        sentence(whyOf(model, variant, loop), loop.depth, () => state.select({ what: 'loop', loop: loop.id }))
      );
      const decisions = variant.decisions.map(one => element('li', {}, element('code', {}, one.step), ` ${one.text}`));
      root.append(element('p', { class: 'polyviz-word' }, `In the schedule ${variant.name}`), element('ul', {}, ...loops));
      root.append(element('p', { class: 'polyviz-word' }, 'Decisions'), element('ul', {}, ...decisions));
    }
  };
  state.on(['model', 'variant'], draw);
  draw();
  return root;
}

function sentence(text: string, depth: number, pick?: () => void): HTMLElement {
  const item = element('li', {});
  item.style.marginInlineStart = `${depth}em`;
  const full = text.charAt(0).toUpperCase() + text.slice(1);
  if (pick === undefined) {
    item.append(full);
    return item;
  }
  const link = element('button', { type: 'button', class: 'polyviz-link' }, full);
  link.addEventListener('click', pick);
  item.append(link);
  return item;
}
