/** For notebooks: the same renderer with access to the notebook's own renderers, so that a live widget can take over. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import { RANK } from './mime';
import { MIME, PolyvizRenderer, type Others } from './renderer';

/** What a notebook panel offers of its renderers; the notebook package itself is not needed for it. */
interface NotebookPanel extends Widget {
  readonly content: {
    readonly rendermime: Others & {
      addFactory(factory: { safe: boolean; mimeTypes: string[]; createRenderer: () => PolyvizRenderer }, rank: number): void;
    };
  };
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'polyviz-lab:plugin',
  description: 'Live polyviz views in notebooks.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
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
