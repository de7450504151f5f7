/** Turning what is drawn in three dimensions: by dragging it, by keys, and by buttons. */

import { button, element } from './dom';
import { FIRST_TURN, turned, type Turn } from './geometry';

/** Degrees for a key or a button, and for a pixel that is dragged. */
const STEP = 15;
const PER_PIXEL = 0.5;
/** Less is a click whose hand was not still. */
const STILL = 4;

const KEYS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['ArrowLeft', [-STEP, 0]],
  ['ArrowRight', [STEP, 0]],
  ['ArrowUp', [0, STEP]],
  ['ArrowDown', [0, -STEP]]
]);

export class Turning {
  /** Null as long as nobody has turned it. */
  turn: Turn | null = null;
  private from: { readonly x: number; readonly y: number; readonly turn: Turn } | null = null;
  private isDragged = false;
  private isWaiting = false;

  /** `changed` draws again; `isSolid` tells whether there is anything to turn. */
  constructor(
    private readonly changed: () => void,
    private readonly isSolid: () => boolean
  ) {}

  /** Listen on what stays while the picture in it is drawn again and again. */
  listen(stage: HTMLElement): void {
    stage.addEventListener('pointerdown', event => {
      if (this.isSolid() && event.button === 0) {
        this.isDragged = false;
        this.from = { x: event.clientX, y: event.clientY, turn: this.turn ?? FIRST_TURN };
      }
    });
    stage.addEventListener('pointermove', event => this.drag(stage, event));
    for (const end of ['pointerup', 'pointercancel'] as const) {
      stage.addEventListener(end, () => (this.from = null));
    }
    // The click at the end of a drag picks nothing.
    stage.addEventListener(
      'click',
      event => {
        if (this.isDragged) {
          event.stopPropagation();
          this.isDragged = false;
        }
      },
      true
    );
  }

  /** Whether a key with Shift turned the picture. */
  key(event: KeyboardEvent): boolean {
    const step = event.shiftKey && this.isSolid() ? KEYS.get(event.key) : undefined;
    if (step !== undefined) {
      this.by(...step);
    }
    return step !== undefined;
  }

  controls(): HTMLElement {
    const made = (label: string, meaning: string, right: number, up: number): HTMLElement =>
      button(label, () => this.by(right, up), { class: 'polyviz-small', 'aria-label': meaning, title: meaning });
    const back = button('as at first', () => this.to(null), { class: 'polyviz-small', 'aria-label': 'Turn back to how it was at first' });
    back.disabled = this.turn === null;
    return element(
      'div',
      { class: 'polyviz-row', role: 'group', 'aria-label': 'Turn the picture' },
      element('span', { class: 'polyviz-word' }, 'Turn'),
      element('span', {}, made('←', 'Turn to the left', -STEP, 0), made('→', 'Turn to the right', STEP, 0), made('↑', 'Look from higher up', 0, STEP), made('↓', 'Look from lower down', 0, -STEP), back),
      element('span', { class: 'polyviz-muted' }, 'or drag it, or hold Shift and press arrow keys')
    );
  }

  private by(right: number, up: number): void {
    this.to(turned(this.turn ?? FIRST_TURN, right, up));
  }

  private to(turn: Turn | null): void {
    this.turn = turn;
    this.changed();
  }

  private drag(stage: HTMLElement, event: PointerEvent): void {
    if (this.from === null) {
      return;
    }
    const [right, down] = [event.clientX - this.from.x, event.clientY - this.from.y];
    if (!this.isDragged && Math.hypot(right, down) < STILL) {
      return;
    }
    this.isDragged = true;
    stage.setPointerCapture?.(event.pointerId);
    this.turn = turned(this.from.turn, -PER_PIXEL * right, PER_PIXEL * down);
    if (!this.isWaiting) {
      this.isWaiting = true;
      window.requestAnimationFrame(() => {
        this.isWaiting = false;
        this.changed();
      });
    }
  }
}
