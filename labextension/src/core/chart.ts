/**
 * A place for one chart. The core asks whoever holds the views to draw the figure by plotly; where nobody answers, the
 * place keeps what stood in it.
 */

import { button, element, setAttribute } from './dom';
import type { Colours, Figure } from './figures';

/** The event that asks for a figure; whoever draws it sets `isTaken`, and calls `release` when it is taken away again. */
export const CHART = 'polyviz-chart';

export interface ChartRequest {
  readonly figure: Figure;
  readonly place: HTMLElement;
  readonly release: () => void;
  isTaken: boolean;
}

/** Ask for a figure at `place`, which has to be in the page; whether somebody draws it. */
export function requestChart(place: HTMLElement, figure: Figure, release: () => void): boolean {
  const request: ChartRequest = { figure, place, release, isTaken: false };
  place.dispatchEvent(new CustomEvent(CHART, { bubbles: true, detail: request }));
  return request.isTaken;
}

/** The colours of the theme around `node`. */
export function coloursAt(node: Element): Colours {
  const style = window.getComputedStyle(node);
  const colour = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  return {
    ink: colour('--pv-ink', '#1b1b1b'),
    grid: colour('--pv-border', '#c4c4c4'),
    bar: colour('--pv-flow', '#0072B2'),
    best: colour('--pv-output', '#00795a'),
    plain: colour('--pv-plain', '#8a8a8a'),
    mark: colour('--pv-anti', '#D55E00')
  };
}

/** When to look for the colours of a new theme, in milliseconds: its name changes before its style sheet is there. */
const THEME_ARRIVES = [60, 400, 1500];

/**
 * The place of a figure: `otherwise` is shown until somebody draws the figure, and where nobody does. The figure is made
 * when the place is seen, so that plotly is not loaded for a chart that is folded away, and again for another theme.
 */
export class ChartPlace {
  readonly root = element('div', { class: 'polyviz-chart' });
  private readonly drawing = element('div', { role: 'img', class: 'polyviz-plotly' });
  private figure: ((colours: Colours) => Figure | null) | null = null;
  private otherwise: readonly Node[] = [];
  private released: (() => void) | null = null;
  private isDrawn = false;
  private colours = '';
  private readonly theme = new MutationObserver(() => THEME_ARRIVES.forEach(delay => window.setTimeout(() => this.followTheme(), delay)));

  constructor() {
    if (typeof ResizeObserver !== 'undefined') {
      new ResizeObserver(() => this.seen()).observe(this.root);
    }
  }

  /** The theme is followed in sight only: the page would hold every chart that was ever drawn in it. */
  private seen(): void {
    if (this.root.clientWidth === 0) {
      this.theme.disconnect();
      return;
    }
    this.theme.observe(document.body, { attributeFilter: ['data-jp-theme-light', 'class'] });
    this.draw();
    this.followTheme();
  }

  /** `released` is what happens when another chart becomes the live one; without it this one can be asked for again. */
  show(figure: (colours: Colours) => Figure | null, otherwise: readonly Node[], released: (() => void) | null = null): void {
    this.figure = figure;
    this.otherwise = otherwise;
    this.released = released;
    this.drawing.replaceChildren();
    this.root.replaceChildren(...otherwise);
    this.redraw();
  }

  private followTheme(): void {
    if (this.isDrawn && this.root.isConnected && JSON.stringify(coloursAt(this.root)) !== this.colours) {
      this.redraw();
    }
  }

  private redraw(): void {
    this.isDrawn = false;
    this.draw();
  }

  private draw(): void {
    if (this.isDrawn || !this.root.isConnected || this.root.clientWidth === 0) {
      return;
    }
    this.isDrawn = true;
    const colours = coloursAt(this.root);
    this.colours = JSON.stringify(colours);
    const figure = this.figure?.(colours) ?? null;
    if (figure === null) {
      return;
    }
    setAttribute(this.drawing, 'aria-label', figure.words);
    this.root.replaceChildren(this.drawing);
    if (!requestChart(this.drawing, figure, () => this.giveUp())) {
      this.root.replaceChildren(...this.otherwise);
    }
  }

  private giveUp(): void {
    const again = button('Live chart', () => this.redraw(), { class: 'polyviz-small' });
    this.root.replaceChildren(...this.otherwise, ...(this.released === null ? [again] : []));
    this.released?.();
  }
}
