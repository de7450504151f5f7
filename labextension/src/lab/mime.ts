/** For all documents: the renderer of saved views, and files that end in `.polyviz.json`. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import { MIME, PolyvizRenderer } from './renderer';

/** Below the rank of the widget manager (-10), which would answer "model not found" in a saved notebook. */
export const RANK = -20;

const extension: IRenderMime.IExtension = {
  id: 'polyviz-lab:mime',
  description: 'Draws saved polyviz views.',
  rendererFactory: { safe: true, mimeTypes: [MIME], createRenderer: options => new PolyvizRenderer(null, options.sanitizer) },
  rank: RANK,
  // Read by the renderer, which says what is wrong with a file that is no JSON.
  dataType: 'string',
  fileTypes: [{ name: 'polyviz', displayName: 'polyviz view', mimeTypes: [MIME], extensions: ['.polyviz.json'], fileFormat: 'text' }],
  documentWidgetFactoryOptions: {
    name: 'polyviz view',
    primaryFileType: 'polyviz',
    fileTypes: ['polyviz'],
    defaultFor: ['polyviz']
  }
};

export default extension;
