/** For notebooks: the same renderer with access to the notebook's own renderers, so that a live widget can take over. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { LabIcon } from '@jupyterlab/ui-components';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { inspected } from './inspectCell';
import { RANK } from './mime';
import { MIME, PolyvizRenderer, type Others } from './renderer';

/** What is used of a notebook panel; the notebook package itself is not needed for it. */
interface NotebookPanel extends Widget {
  readonly content: {
    readonly activeCell: {
      readonly model: { readonly type: string; readonly sharedModel: { getSource(): string; setSource(text: string): void } };
    } | null;
    readonly rendermime: Others & {
      addFactory(factory: { safe: boolean; mimeTypes: string[]; createRenderer: () => PolyvizRenderer }, rank: number): void;
    };
  };
}

const INSPECT_CELL = 'polyviz:inspect-cell';

/** Three points and the arrows between them, in the colours of the theme. */
const loopIcon = new LabIcon({
  name: 'polyviz:loops',
  svgstr:
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="#616161"><circle cx="3" cy="13" r="2"/><circle cx="13" cy="13" r="2"/><circle cx="13" cy="3" r="2"/><path d="M5 12.3h4V10l3 3-3 3v-2.3H5zM12.3 11V7H10l3-3 3 3h-2.3v4z"/></g></svg>'
});

/** The active cell's text as it would be inspected; null where it cannot be. */
function inspectedText(app: JupyterFrontEnd): string | null {
  const cell = (app.shell.currentWidget as Partial<NotebookPanel> | null)?.content?.activeCell;
  return cell?.model?.type === 'code' ? inspected(cell.model.sharedModel.getSource()) : null;
}

async function inspectCell(app: JupyterFrontEnd): Promise<void> {
  const text = inspectedText(app);
  const cell = (app.shell.currentWidget as Partial<NotebookPanel> | null)?.content?.activeCell;
  if (text !== null && cell) {
    cell.model.sharedModel.setSource(text);
    await app.commands.execute('notebook:run-cell');
  }
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'polyviz-lab:plugin',
  description: 'Live polyviz views in notebooks.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    app.commands.addCommand(INSPECT_CELL, {
      label: 'Inspect Loops with polyviz',
      caption: 'Show the domains, dependences and schedules of the loops in this cell',
      icon: loopIcon,
      isVisible: () => inspectedText(app) !== null,
      isEnabled: () => inspectedText(app) !== null,
      execute: async () => inspectCell(app)
    });
    app.docRegistry.addWidgetExtension('Notebook', {
      createNew: (panel: Widget): IDisposable => {
        const { rendermime } = (panel as NotebookPanel).content;
        const createRenderer = (): PolyvizRenderer => new PolyvizRenderer(rendermime);
        rendermime.addFactory({ safe: true, mimeTypes: [MIME], createRenderer }, RANK);
        return new DisposableDelegate(() => undefined);
      }
    });
  }
};

export default plugin;
