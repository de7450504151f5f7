/** Figures by plotly's own renderer, where the host has one: one at a time for all outputs that share a `Turn`. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { CHART, type ChartRequest } from '../core/chart';
import type { Figure } from '../core/figures';
import type { Others } from './renderer';

export const PLOTLY = 'application/vnd.plotly.v1+json';

/** Whose figure is live. */
export interface Turn {
  holder: Plotly | null;
}

export class Plotly {
  private live: IRenderMime.IRenderer | null = null;
  private release: (() => void) | null = null;

  constructor(
    node: HTMLElement,
    private readonly others: Others | null,
    private readonly turn: Turn
  ) {
    node.addEventListener(CHART, event => {
      const request = (event as CustomEvent<ChartRequest>).detail;
      request.isTaken = this.draw(request.place, request.figure);
      this.release = request.isTaken ? request.release : null;
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
    // Never its own: that was cleared, and its place is drawn in again.
    this.turn.holder?.giveUp();
    this.turn.holder = this;
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
    this.release = null;
    if (this.turn.holder === this) {
      this.turn.holder = null;
    }
  }

  /** Another output has its turn: what stood in the place of the figure comes back. */
  private giveUp(): void {
    const { release } = this;
    this.clear();
    release?.();
  }
}
