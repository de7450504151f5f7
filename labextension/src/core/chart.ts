/**
 * A place for one chart. The core asks whoever holds the views to draw the figure by plotly; where nobody answers, the
 * place keeps what stood in it.
 */

import { element, setAttribute } from './dom';
import type { Colours, Figure } from './figures';

/** The event that asks for a figure; whoever draws it sets `isTaken`. */
export const CHART = 'polyviz-chart';

export interface ChartRequest {
  readonly figure: Figure;
  readonly place: HTMLElement;
  isTaken: boolean;
}

/** Ask for a figure at `place`, which has to be in the page; whether somebody draws it. */
export function requestChart(place: HTMLElement, figure: Figure): boolean {
  const request: ChartRequest = { figure, place, isTaken: false };
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
  private isDrawn = false;
  private colours = '';

  constructor() {
    if (typeof ResizeObserver !== 'undefined') {
      new ResizeObserver(() => this.draw()).observe(this.root);
    }
    const follow = (): void => THEME_ARRIVES.forEach(delay => window.setTimeout(() => this.followTheme(), delay));
    new MutationObserver(follow).observe(document.body, { attributeFilter: ['data-jp-theme-light', 'class'] });
  }

  show(figure: (colours: Colours) => Figure | null, otherwise: readonly Node[]): void {
    this.figure = figure;
    this.drawing.replaceChildren();
    this.root.replaceChildren(...otherwise);
    this.redraw();
  }

  private followTheme(): void {
    if (this.root.isConnected && JSON.stringify(coloursAt(this.root)) !== this.colours) {
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
    const before = [...this.root.childNodes];
    setAttribute(this.drawing, 'aria-label', figure.words);
    this.root.replaceChildren(this.drawing);
    if (!requestChart(this.drawing, figure)) {
      this.root.replaceChildren(...before);
    }
  }
}
