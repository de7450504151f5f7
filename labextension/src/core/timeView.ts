/** The execution order as steps: a slider and a play button light the iterations that run at each of them. */

import { button, element } from './dom';
import { momentsOf, type Moment } from './order';
import { instanceKey, instanceText } from './selection';
import type { State } from './state';

const PAUSE = 250;

export function timeView(state: State): HTMLElement {
  return new TimeView(state).root;
}

class TimeView {
  readonly root: HTMLElement;
  private moments: readonly Moment[] = [];
  /** -1 before the first step, when nothing is lit. */
  private position = -1;
  private timer: number | null = null;
  private readonly slider = element('input', { type: 'range', min: -1, 'aria-label': 'Step of the execution', class: 'polyviz-wide' });
  private readonly sentence = element('span', { class: 'polyviz-muted' });
  private readonly atOnce = element('input', { type: 'checkbox' });
  private readonly player = button('Play', () => this.toggle());

  constructor(private readonly state: State) {
    this.slider.addEventListener('input', () => this.show(Number(this.slider.value)));
    this.atOnce.addEventListener('change', () => this.restart());
    const back = button('◀', () => this.show(this.position - 1), { 'aria-label': 'One step back' });
    const forward = button('▶', () => this.show(this.position + 1), { 'aria-label': 'One step forward' });
    const together = element('label', {}, this.atOnce, 'parallel loops at once');
    this.root = element(
      'div',
      { class: 'polyviz-row', role: 'group', 'aria-label': 'Execution order' },
      this.player,
      back,
      this.slider,
      forward,
      together,
      this.sentence
    );
    state.on(['model', 'variant'], () => this.restart());
    this.restart();
  }

  private restart(): void {
    const { model, variant } = this.state;
    this.stop();
    this.moments = variant === undefined ? [] : momentsOf(model, variant, this.atOnce.checked);
    this.slider.max = String(this.moments.length - 1);
    this.show(-1);
  }

  private toggle(): void {
    if (this.timer !== null) {
      this.stop();
      return;
    }
    if (this.position >= this.moments.length - 1) {
      this.show(-1);
    }
    this.player.textContent = 'Pause';
    this.timer = window.setInterval(() => this.advance(), PAUSE);
  }

  private advance(): void {
    if (this.position >= this.moments.length - 1 || !this.root.isConnected) {
      this.stop();
      return;
    }
    this.show(this.position + 1);
  }

  private stop(): void {
    if (this.timer !== null) {
      window.clearInterval(this.timer);
    }
    this.timer = null;
    this.player.textContent = 'Play';
  }

  private show(position: number): void {
    this.position = Math.max(-1, Math.min(this.moments.length - 1, position));
    const keys = (moments: readonly Moment[]): ReadonlySet<string> =>
      new Set(moments.flatMap(moment => moment.map(([statement, instance]) => instanceKey(statement, instance))));
    const now = this.moments[this.position];
    this.state.moment = now === undefined ? null : keys([now]);
    this.state.past = keys(this.moments.slice(0, Math.max(0, this.position)));
    this.slider.value = String(this.position);
    this.sentence.textContent = this.text(now);
    this.slider.setAttribute('aria-valuetext', this.sentence.textContent);
    this.state.tell('moment');
  }

  private text(now: Moment | undefined): string {
    const count = `${this.moments.length} steps`;
    if (now === undefined) {
      return count;
    }
    const names = now.slice(0, 4).map(([statement, instance]) => instanceText(this.state.model, statement, instance));
    const more = now.length > 4 ? ` and ${now.length - 4} more` : '';
    return `Step ${this.position + 1} of ${count}: ${names.join(', ')}${more}`;
  }
}
