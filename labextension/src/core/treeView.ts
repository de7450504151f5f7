/** The schedule tree: nodes, the loops of each band with their rows and flags, and the menu of moves on each loop. */

import { button, element, keepingFocus } from './dom';
import { flagsOf, loopId, rowText, verdictOf } from './loops';
import { MenuView } from './menuView';
import type { Member, TreeNode, Verdict } from './model';
import { onPick, rove } from './roving';
import { statementNumber, type Selection } from './selection';
import type { Change, State } from './state';

export function treeView(state: State): HTMLElement {
  const root = element('div', {});
  let loops = new Map<string, HTMLElement>();
  let places = new Map<string, HTMLElement>();
  let parts = new Map<HTMLElement, readonly string[]>();
  let menuView: MenuView | null = null;
  /** The place of the last menu: whoever made a move there goes on there. */
  let opened = '';
  const redraw = (): void => {
    const drawing = new Drawing(state);
    const variant = state.variant;
    const tree = element('ul', {
      role: 'tree',
      'aria-multiselectable': 'true',
      'aria-label': `Schedule tree of ${variant?.name ?? 'nothing'}`,
      class: 'polyviz-tree'
    });
    tree.append(...(variant === undefined ? [] : drawing.node(variant.tree, '0')));
    rove(tree, '[role=treeitem]');
    const scrolled = root.firstElementChild?.scrollTop ?? 0;
    root.replaceChildren(tree);
    loops = drawing.loops;
    parts = drawing.parts;
    places = drawing.places;
    const isStillOpen = menuView !== null && menuView.number === state.menu?.number && attach(menuView);
    menuView = isStillOpen ? menuView : null;
    tree.scrollTop = scrolled;
    mark();
  };
  /** Where only more is known of the same order, everything stays where it is; another one begins at the last menu. */
  const draw = (told: readonly Change[]): void => {
    if (!told.includes('order')) {
      keepingFocus(root, redraw);
      return;
    }
    const hadFocus = root.contains(document.activeElement);
    redraw();
    if (hadFocus) {
      (places.get(opened) ?? root.querySelector<HTMLElement>('[role=treeitem]'))?.focus();
    }
  };
  /** Put a menu below its loop; whether there is one. */
  const attach = (view: MenuView): boolean => {
    const label = places.get(view.address)?.querySelector(':scope > .polyviz-node');
    label?.after(view.root);
    return label instanceof Element;
  };
  const mark = (): void => {
    const light = state.light;
    loops.forEach((item, id) => item.setAttribute('aria-selected', String(light.loops.has(id))));
    parts.forEach((names, item) => {
      const isLit = !light.isEmpty && names.length === 1 && names.every(name => light.statements.has(statementNumber(state.model, name)));
      item.setAttribute('aria-selected', String(isLit));
    });
  };
  const showMenu = (): void => {
    const menu = state.menu;
    if (menuView !== null && menuView.number !== menu?.number) {
      const wasInside = menuView.root.contains(document.activeElement);
      menuView.root.remove();
      if (wasInside) {
        places.get(menuView.address)?.querySelector<HTMLElement>(':scope > .polyviz-node button')?.focus();
      }
      menuView = null;
    }
    if (menu !== null && places.has(menu.address) && menuView === null) {
      menuView = new MenuView(state, menu);
      opened = menu.address;
      attach(menuView);
      menuView.root.focus();
    }
    if (menu !== null) {
      menuView?.update(menu);
    }
  };
  state.on(['model', 'variant'], draw);
  state.on(['selection'], mark);
  state.on(['choices'], showMenu);
  redraw();
  return root;
}

class Drawing {
  readonly loops = new Map<string, HTMLElement>();
  readonly parts = new Map<HTMLElement, readonly string[]>();
  readonly places = new Map<string, HTMLElement>();

  constructor(private readonly state: State) {}

  /** The items of a node: those of its loops one inside the other, then its children. */
  node(node: TreeNode, path: string): HTMLElement[] {
    const children = node.children.flatMap((child, place) => this.node(child, `${path}.${place}`));
    if (node.kind === 'band') {
      return this.band(node, path, children);
    }
    // Loops of tiles say so themselves.
    if (node.label === 'mark tile' || node.label === 'mark point') {
      return children;
    }
    const first = statementNumber(this.state.model, node.statements[0] ?? '');
    const selection: Selection = { what: 'statement', statement: first };
    const label = element('span', { class: 'polyviz-node' }, node.label);
    const item = this.item(label, children, selection);
    this.parts.set(item, node.kind === 'filter' ? node.statements : []);
    return [item];
  }

  private band(node: TreeNode, path: string, inside: HTMLElement[]): HTMLElement[] {
    let content = inside;
    for (let place = node.members.length - 1; place >= 0; place -= 1) {
      const member = node.members[place];
      if (member !== undefined) {
        content = [this.loop(node, member, place, loopId(path, place), content)];
      }
    }
    return content;
  }

  private loop(node: TreeNode, member: Member, place: number, id: string, content: HTMLElement[]): HTMLElement {
    const row = rowText(member);
    const hasOwnName = member.address !== '' && member.address.replace(/^.*\./, '') !== row;
    const isNest = place === 0 && node.members.length > 1;
    const [kind, meaning] = node.permutable ? ['permutable ×', 'may change places and be tiled'] : ['band of ', 'come from one step of the scheduler, and may not change places'];
    const band = isNest ? [badge(`${kind}${node.members.length}`, 'band', `These ${node.members.length} loops ${meaning}.`)] : [];
    const flags = flagsOf(member, this.verdict(id)).map(flag => badge(flag, flag.replaceAll(' ', '-')));
    const label = element(
      'span',
      { class: 'polyviz-node' },
      element('span', { class: 'polyviz-word' }, 'loop '),
      // Moves, scripts and reasons call it so.
      hasOwnName ? element('code', {}, `${member.address}:`) : null,
      element('code', { class: hasOwnName ? 'polyviz-kind' : null }, row),
      ...flags,
      ...band,
      this.opener(member.address)
    );
    const item = this.item(label, content, { what: 'loop', loop: id });
    this.places.set(member.address, item);
    this.loops.set(id, item);
    return item;
  }

  private verdict(id: string): Verdict | undefined {
    const { variant } = this.state;
    return variant === undefined ? undefined : verdictOf(variant, id);
  }

  private opener(address: string): HTMLElement | null {
    if (this.state.host === null || address === '') {
      return null;
    }
    return button('Moves…', () => this.state.openMenu(address), { 'aria-label': `Moves at ${address}`, class: 'polyviz-small' });
  }

  private item(label: HTMLElement, children: HTMLElement[], selection: Selection): HTMLElement {
    const group = children.length > 0 ? element('ul', { role: 'group' }, ...children) : null;
    const item = element('li', { role: 'treeitem', 'aria-selected': 'false', tabindex: -1 }, label, group);
    if (children.length > 0) {
      item.setAttribute('aria-expanded', 'true');
    }
    onPick(label, () => this.state.select(selection));
    item.addEventListener('keydown', event => {
      if (event.target === item && (event.key === 'Enter' || event.key === ' ')) {
        event.preventDefault();
        this.state.select(selection);
      }
    });
    return item;
  }
}

function badge(text: string, kind: string, title: string | null = null): HTMLElement {
  return element('span', { class: `polyviz-badge polyviz-badge-${kind}`, title }, text);
}
