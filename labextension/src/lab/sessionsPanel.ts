/** The side panel: the inspected loops of the notebook in front, and the schedule and program of those at the active cell. */

import { Widget } from '@lumino/widgets';

import { button, element } from '../core/dom';
import { SELECTED } from '../core/state';
import { summary } from '../core/summary';
import { isNotebook, sessionsOf, type NotebookPanel, type Session } from './notebooks';

/** Milliseconds without a change of the notebook before the panel looks at it again. */
const PAUSE = 100;

export class SessionsPanel extends Widget {
  /** Whether the lower part shows what belongs to the active cell, or stays with what was picked. */
  follows = true;
  private notebook: NotebookPanel | null = null;
  private picked: number | null = null;
  private drawn = '';

  /** `looked` is called whenever the notebook may have changed, as what the commands can do then does, too. */
  constructor(private readonly looked: () => void) {
    super();
    this.id = 'polyviz-sessions';
    this.addClass('polyviz-panel');
    this.title.caption = 'polyviz: inspected loops of this notebook';
    this.draw();
  }

  /** Show another document; null or one that is no notebook leaves the last one. */
  follow(widget: Widget | null): void {
    if (isNotebook(widget)) {
      this.picked = widget === this.notebook ? this.picked : null;
      this.notebook = widget;
      this.refresh();
    }
  }

  /** A notebook whose cells and outputs are worth looking at again when they change. */
  watch(notebook: NotebookPanel): void {
    notebook.content.activeCellChanged.connect(() => {
      this.picked = this.follows ? null : this.picked;
      this.refresh();
    });
    // Cells that are read from the file, run, moved or deleted; after every key, too, so not at once.
    let timer = 0;
    notebook.content.modelContentChanged.connect(() => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => this.refresh(), PAUSE);
    });
    notebook.content.node.addEventListener(SELECTED, event => {
      const { detail } = event as CustomEvent<unknown>;
      this.node.lastElementChild?.dispatchEvent(new CustomEvent(SELECTED, { detail }));
    });
    notebook.disposed.connect(() => {
      if (this.notebook === notebook) {
        this.notebook = null;
        this.refresh();
      }
    });
  }

  /** Make the session before or after the active cell the active one; false when there is none. */
  go(step: 1 | -1): boolean {
    const here = this.notebook?.content.activeCellIndex ?? -1;
    const cells = this.sessions().map(session => session.cell);
    const next = step > 0 ? cells.find(cell => cell > here) : [...cells].reverse().find(cell => cell < here);
    if (next !== undefined) {
      this.open(next);
    }
    return next !== undefined;
  }

  /** The session at the active cell, else the last one before it, else the first. */
  current(): Session | null {
    const sessions = this.sessions();
    const here = this.picked ?? this.notebook?.content.activeCellIndex ?? 0;
    return [...sessions].reverse().find(session => session.cell <= here) ?? sessions[0] ?? null;
  }

  refresh(): void {
    const current = this.current();
    const shown = JSON.stringify([this.sessions().map(one => [one.cell, one.name, one.facts]), current?.cell ?? -1, current?.value ?? null]);
    if (shown !== this.drawn) {
      this.drawn = shown;
      this.draw();
    }
    this.looked();
  }

  private sessions(): readonly Session[] {
    return this.notebook === null ? [] : sessionsOf(this.notebook.content.widgets);
  }

  private draw(): void {
    const sessions = this.sessions();
    const current = this.current();
    const none = 'No loops are inspected in this notebook yet. Put %%polyopt --inspect above a loop, or use Run > Inspect Loops with polyviz.';
    const content =
      sessions.length === 0
        ? [element('p', { class: 'polyviz-muted' }, none)]
        : [element('ul', { class: 'polyviz-sessions' }, ...sessions.map(one => this.entry(one, one.cell === current?.cell)))];
    const lower = current === null ? [] : [summary(current.value)];
    this.node.replaceChildren(element('div', { class: 'polyviz' }, element('p', { class: 'polyviz-heading' }, 'Inspected loops'), ...content), ...lower);
  }

  private entry(session: Session, isCurrent: boolean): HTMLElement {
    const open = button(session.name, () => this.open(session.cell), {
      'aria-current': isCurrent ? 'true' : null,
      class: 'polyviz-session'
    });
    open.append(element('span', { class: 'polyviz-meaning' }, `cell ${session.cell + 1}; ${session.facts}`));
    return element('li', {}, open);
  }

  private open(cell: number): void {
    if (this.notebook !== null) {
      this.picked = cell;
      this.notebook.content.activeCellIndex = cell;
      void this.notebook.content.scrollToItem?.(cell).catch(() => undefined);
      this.refresh();
    }
  }
}
