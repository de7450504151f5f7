/** Figures by plotly's own renderer, where the host has one: one figure at a time for all that is shown below a node. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { CHART, type ChartRequest } from '../core/chart';
import type { Figure } from '../core/figures';
import type { Others } from './renderer';

export const PLOTLY = 'application/vnd.plotly.v1+json';

export class Plotly {
  private live: IRenderMime.IRenderer | null = null;

  constructor(node: HTMLElement, private readonly others: Others | null) {
    node.addEventListener(CHART, event => {
      const request = (event as CustomEvent<ChartRequest>).detail;
      request.isTaken = this.draw(request.place, request.figure);
    });
  }

  get isThere(): boolean {
    return this.others?.mimeTypes.includes(PLOTLY) ?? false;
  }

  /** Draw `figure` in `place`, which is in the page; the figure before it goes. */
  draw(place: HTMLElement, figure: Figure): boolean {
    this.clear();
    if (this.others === null || !this.isThere) {
      return false;
    }
    const live = this.others.createRenderer(PLOTLY);
    this.live = live;
    place.replaceChildren();
    // Not attached as a widget: its place may go with the view around it, which a widget would not survive.
    place.append(live.node);
    // plotly would write into what it draws.
    const { data, layout, config } = JSON.parse(JSON.stringify(figure)) as Record<string, ReadonlyPartialJSONObject>;
    const model = { trusted: true, metadata: {}, data: { [PLOTLY]: { data, layout, config } as ReadonlyPartialJSONObject }, setData: (): void => undefined };
    void live.renderModel(model).catch(() => place.replaceChildren(figure.words));
    return true;
  }

  clear(): void {
    this.live?.dispose();
    this.live = null;
  }
}
