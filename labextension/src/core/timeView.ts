/** The execution order as steps: a slider and a play button light the iterations that run at each of them. */

import { deviceMoments } from './deviceSteps';
import { button, element } from './dom';
import { momentsOf, type Moment } from './order';
import { instanceKey, instanceText } from './selection';
import type { State } from './state';

/** Milliseconds between two pictures, and where somebody asked for less motion. */
const PAUSE = 250;
const CALM_PAUSE = 1500;
/** More pictures than these nobody waits for: playing takes several steps at once. */
const MOST_PICTURES = 240;

export function timeView(state: State): HTMLElement {
  return new TimeView(state).root;
}

class TimeView {
  readonly root: HTMLElement;
  private past = new Set<string>();
  /** How many steps are in `past`. */
  private counted = 0;
  private timer: number | null = null;
  private readonly slider = element('input', { type: 'range', min: -1, 'aria-label': 'Step of the execution', class: 'polyviz-wide' });
  private readonly sentence = element('span', { class: 'polyviz-muted polyviz-full' });
  private readonly atOnce = element('input', { type: 'checkbox' });
  private readonly device = element('input', { type: 'checkbox' });
  private readonly deviceLabel = element('label', {}, this.device, 'warp by warp, on a GPU');
  private readonly player = button('Play', () => this.toggle());

  constructor(private readonly state: State) {
    this.slider.addEventListener('input', () => this.show(Number(this.slider.value)));
    this.atOnce.addEventListener('change', () => this.restart());
    this.device.addEventListener('change', () => this.restart());
    const back = button('◀', () => this.show(this.state.position - 1), { 'aria-label': 'One step back' });
    const forward = button('▶', () => this.show(this.state.position + 1), { 'aria-label': 'One step forward' });
    const together = element('label', {}, this.atOnce, 'parallel loops at once');
    this.root = element(
      'div',
      { class: 'polyviz-row', role: 'group', 'aria-label': 'Execution order' },
      this.player,
      back,
      this.slider,
      forward,
      together,
      this.deviceLabel,
      this.sentence
    );
    state.on(['model', 'variant'], told => (told.includes('order') ? this.restart() : this.goOn()));
    this.restart();
  }

  private restart(): void {
    this.stop();
    this.setUp(-1);
  }

  /** More is known of the same steps: whoever follows them stays where they are. */
  private goOn(): void {
    this.setUp(this.state.position);
  }

  private setUp(position: number): void {
    const { state } = this;
    state.moments = this.moments();
    this.past = new Set();
    this.root.hidden = state.moments.length === 0;
    this.slider.max = String(state.moments.length - 1);
    this.show(position);
  }

  /** The steps as they are asked for; those of a device need its kernels, which *Blocks and threads* asks for. */
  private moments(): readonly Moment[] {
    const { state } = this;
    const { variant } = state;
    const device = variant?.device ?? null;
    const isKnown = device !== null && device.places.steps.length > 0;
    this.deviceLabel.hidden = !isKnown;
    state.onDevice = isKnown && this.device.checked;
    this.atOnce.disabled = state.onDevice;
    if (variant === undefined) {
      return [];
    }
    return state.onDevice && device !== null ? deviceMoments(state.model, device) : momentsOf(state.model, variant, this.atOnce.checked);
  }

  private toggle(): void {
    if (this.timer !== null) {
      this.stop();
      return;
    }
    if (this.isAtEnd()) {
      this.show(-1);
    }
    this.player.textContent = 'Pause';
    const isCalm = window.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false;
    this.timer = window.setInterval(() => this.advance(), isCalm ? CALM_PAUSE : PAUSE);
  }

  private isAtEnd(): boolean {
    return this.state.position >= this.state.moments.length - 1;
  }

  private advance(): void {
    if (this.isAtEnd() || !this.root.isConnected) {
      this.stop();
      return;
    }
    this.show(this.state.position + Math.ceil(this.state.moments.length / MOST_PICTURES));
  }

  private stop(): void {
    if (this.timer !== null) {
      window.clearInterval(this.timer);
    }
    this.timer = null;
    this.player.textContent = 'Play';
  }

  private show(position: number): void {
    const { state } = this;
    state.position = Math.max(-1, Math.min(state.moments.length - 1, position));
    const now = state.moments[state.position];
    state.moment = now === undefined ? null : new Set(keysOf(now));
    this.keepPast();
    this.slider.value = String(state.position);
    this.sentence.textContent = this.text(now);
    this.slider.setAttribute('aria-valuetext', this.sentence.textContent);
    state.tell('moment');
  }

  /** What ran before the step that is shown; going forward adds to it, so that long runs stay smooth. */
  private keepPast(): void {
    const { state } = this;
    const end = Math.max(0, state.position);
    if (end < this.counted || this.past.size === 0) {
      this.past = new Set();
      this.counted = 0;
    }
    for (; this.counted < end; this.counted += 1) {
      keysOf(state.moments[this.counted] ?? []).forEach(key => this.past.add(key));
    }
    state.past = this.past;
  }

  private text(now: Moment | undefined): string {
    const { length } = this.state.moments;
    const count = length === 1 ? '1 step' : `${length} steps`;
    if (now === undefined) {
      return `${count}, none of them taken yet`;
    }
    const names = now.slice(0, 4).map(([statement, instance]) => instanceText(this.state.model, statement, instance));
    const more = now.length > 4 ? ` and ${now.length - 4} more` : '';
    return `Step ${this.state.position + 1} of ${count}: ${names.join(', ')}${more}`;
  }
}

function keysOf(moment: Moment): readonly string[] {
  return moment.map(([statement, instance]) => instanceKey(statement, instance));
}
