/**
 * For notebooks: the same renderer with access to the notebook's own renderers, so that a live widget can take over; the
 * side panel with the inspected loops; and the commands.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, Notification } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { LabIcon } from '@jupyterlab/ui-components';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { movesOf, takeMoves, type Moves } from '../core/moves';
import { fieldsOf, textOf } from '../core/values';
import { hasMagic, inspected, MAGIC } from './inspectCell';
import { RANK } from './mime';
import { isNotebook, knowsMagic, shownBy, type Cell, type NotebookPanel } from './notebooks';
import { MIME, PolyvizRenderer } from './renderer';
import { SessionsPanel } from './sessionsPanel';

const ID = 'polyviz-lab:plugin';
const INSPECT_CELL = 'polyviz:inspect-cell';
const SHOW_SESSIONS = 'polyviz:show-sessions';
const NEXT_SESSION = 'polyviz:next-session';
const PREVIOUS_SESSION = 'polyviz:previous-session';
const INSERT_SCRIPT = 'polyviz:insert-script';
const COMMANDS = [INSPECT_CELL, SHOW_SESSIONS, NEXT_SESSION, PREVIOUS_SESSION, INSERT_SCRIPT];
/** After these a kernel has forgotten what the live views talk about. */
const GONE = new Set(['dead', 'terminating', 'restarting', 'autorestarting']);

/** Three points and the arrows between them, in the colours of the theme. */
const loopIcon = new LabIcon({
  name: 'polyviz:loops',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="#616161"><circle cx="3" cy="13" r="2"/><circle cx="13" cy="13" r="2"/><circle cx="13" cy="3" r="2"/><path d="M5 12.3h4V10l3 3-3 3v-2.3H5zM12.3 11V7H10l3-3 3 3h-2.3v4z"/></g></svg>'
});

/** What the settings say, once they are `known`. */
interface Settings {
  options: string;
  known: Promise<void>;
}

function activeCell(app: JupyterFrontEnd): Cell | null {
  const current = app.shell.currentWidget;
  return isNotebook(current) ? current.content.activeCell : null;
}

/** The active cell's text as it would be inspected; null where it cannot be. */
function inspectedText(app: JupyterFrontEnd, settings: Settings): string | null {
  const cell = activeCell(app);
  return cell?.model?.type === 'code' ? inspected(sourceOf(cell), settings.options) : null;
}

function sourceOf(cell: Cell | null): string {
  return cell?.model?.sharedModel.getSource() ?? '';
}

async function inspectCell(app: JupyterFrontEnd, settings: Settings): Promise<void> {
  await settings.known;
  const text = inspectedText(app, settings);
  const cell = activeCell(app);
  if (text !== null && cell) {
    cell.model.sharedModel.setSource(text);
    await app.commands.execute('notebook:run-cell');
  }
}

/** A cell below with the moves made by hand as a script that needs no widget. */
async function insertScript(app: JupyterFrontEnd, sessions: SessionsPanel): Promise<void> {
  const script = scriptOf(sessions);
  if (script !== '') {
    await app.commands.execute('notebook:insert-cell-below');
    activeCell(app)?.model.sharedModel.setSource(script);
  }
}

function scriptOf(sessions: SessionsPanel): string {
  return textOf(fieldsOf(fieldsOf(sessions.current()?.value)['edit'])['python']).trimEnd();
}

function addCommands(app: JupyterFrontEnd, sessions: SessionsPanel, settings: Settings): void {
  const { commands, shell } = app;
  commands.addCommand(INSPECT_CELL, {
    label: 'Inspect Loops with polyviz',
    caption: 'Show the domains, dependences and schedules of the loops in this cell',
    icon: loopIcon,
    isVisible: args => inspectedText(app, settings) !== null && (args['on'] !== MAGIC || hasMagic(sourceOf(activeCell(app)))),
    isEnabled: () => inspectedText(app, settings) !== null,
    execute: async () => inspectCell(app, settings)
  });
  commands.addCommand(SHOW_SESSIONS, {
    label: 'Show Inspected Loops (polyviz)',
    icon: loopIcon,
    execute: () => shell.activateById(sessions.id)
  });
  commands.addCommand(NEXT_SESSION, { label: 'Go to the Next Inspected Loops (polyviz)', execute: () => sessions.go(1) });
  commands.addCommand(PREVIOUS_SESSION, { label: 'Go to the Previous Inspected Loops (polyviz)', execute: () => sessions.go(-1) });
  commands.addCommand(INSERT_SCRIPT, {
    label: 'Insert the Script of the Moves Below (polyviz)',
    isEnabled: () => scriptOf(sessions) !== '',
    execute: async () => insertScript(app, sessions)
  });
}

/** Keep what the panel and the commands do in step with the settings. */
async function followSettings(registry: ISettingRegistry, sessions: SessionsPanel, settings: Settings): Promise<void> {
  const found = await registry.load(ID);
  const read = (): void => {
    settings.options = textOf(found.get('options').composite);
    sessions.follows = found.get('follow').composite !== false;
    sessions.refresh();
  };
  found.changed.connect(read);
  read();
}

const LOST = 'A cell failed, and its views are gone. The moves made by hand there:';

/** The script of moves whose cell failed stands nowhere else any more. */
function tellOfLost({ script }: Moves): void {
  const copy = { label: 'Copy script', callback: () => void navigator.clipboard?.writeText(script) };
  Notification.warning(`${LOST}\n${script}`, { autoClose: false, actions: [copy] });
}

/** Renderers that know the notebook they are in: for its live widgets, and to run the cell again when its kernel is gone. */
function addRenderers(app: JupyterFrontEnd, panel: NotebookPanel): void {
  const drawn = new Set<PolyvizRenderer>();
  const moves = new Map<Cell, Moves[]>();
  const remember = (cells: readonly Cell[]): void => cells.forEach(cell => moves.set(cell, shownBy(cell).map(movesOf)));
  const cellOf = (node: HTMLElement): Cell | undefined => panel.content.widgets.find(cell => cell.node.contains(node));
  const again = async (node: HTMLElement): Promise<void> => {
    const place = panel.content.widgets.findIndex(cell => cell.node.contains(node));
    if (place < 0) {
      return;
    }
    const isLoaded = await knowsMagic(panel.sessionContext.session?.kernel ?? null);
    remember(panel.content.widgets.slice(isLoaded ? place : 0, place + 1));
    panel.content.activeCellIndex = place;
    // Alone, this cell would lose the last state to an error.
    if (isLoaded || (await app.commands.execute('notebook:run-all-above')) !== false) {
      panel.content.activeCellIndex = place;
      await app.commands.execute('notebook:run-cell');
    }
    // A cell that failed shows no views any more.
    for (const [cell, left] of moves) {
      if (left.length > 0 && shownBy(cell).length === 0) {
        left.splice(0).filter(one => one.script !== '').forEach(tellOfLost);
      }
    }
  };
  const isRunning = (): boolean => panel.sessionContext.session?.kernel?.status === 'busy';
  const home = { turn: { holder: null }, gone: new Set<string>(), isRunning, again, moves: (node: HTMLElement, text: string) => takeMoves(moves.get(cellOf(node)!) ?? [], text) };
  const createRenderer = (): PolyvizRenderer => {
    const made = new PolyvizRenderer(panel.content.rendermime, null, home);
    drawn.add(made);
    made.disposed.connect(() => drawn.delete(made));
    return made;
  };
  panel.content.rendermime.addFactory({ safe: true, mimeTypes: [MIME], createRenderer }, RANK);
  panel.sessionContext.statusChanged.connect((_, status) => {
    if (GONE.has(status)) {
      drawn.forEach(one => one.fallBack());
      remember(panel.content.widgets);
    }
  });
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: ID,
  description: 'Live polyviz views in notebooks, and a side panel that lists them.',
  autoStart: true,
  optional: [ISettingRegistry, ICommandPalette],
  activate: (app: JupyterFrontEnd, registry: ISettingRegistry | null, palette: ICommandPalette | null) => {
    // Buttons ask again whether there is something for them to do.
    const sessions = new SessionsPanel(() => COMMANDS.filter(one => app.commands.hasCommand(one)).forEach(one => app.commands.notifyCommandChanged(one)));
    const settings: Settings = { options: '', known: Promise.resolve() };
    sessions.title.icon = loopIcon;
    app.shell.add(sessions, 'right', { rank: 900, type: 'polyviz' });
    app.shell.currentChanged?.connect(() => sessions.follow(app.shell.currentWidget));
    addCommands(app, sessions, settings);
    COMMANDS.forEach(command => palette?.addItem({ command, category: 'polyviz' }));
    app.docRegistry.addWidgetExtension('Notebook', {
      createNew: (panel: Widget): IDisposable => {
        addRenderers(app, panel as NotebookPanel);
        sessions.watch(panel as NotebookPanel);
        return new DisposableDelegate(() => undefined);
      }
    });
    if (registry !== null) {
      settings.known = followSettings(registry, sessions, settings).catch((reason: unknown) => console.error('The settings of polyviz cannot be read.', reason));
    }
  }
};

export default plugin;
