/** Blocks and threads as signs and words: who runs an instance. */

import type { Mark } from './clouds';
import type { Blocks } from './device';
import { element, shape } from './dom';
import { colourOf, strengthOf, workerOf, workerText } from './groups';
import type { State } from './state';

type Instance = Pick<Mark, 'statement' | 'instance'>;

export class Workers {
  constructor(private readonly state: State) {}

  private get blocks(): Blocks | null {
    return this.state.variant?.device?.blocks ?? null;
  }

  /** The classes of a point: a colour for its block, a strength for its thread. */
  look(mark: Instance): string {
    const { blocks } = this;
    const worker = blocks === null ? null : workerOf(blocks, this.state.model, mark);
    return blocks === null || worker === null ? '' : `polyviz-worker polyviz-block-${colourOf(blocks, worker.block)} polyviz-strength-${strengthOf(blocks, worker.thread)}`;
  }

  /** The coordinates of the thread of an instance, as short as can be. */
  thread(mark: Instance): string {
    const { blocks } = this;
    const worker = blocks === null ? null : workerOf(blocks, this.state.model, mark);
    const found = worker === null ? [] : (blocks?.threads[worker.thread] ?? []);
    const last = Math.max(0, ...(blocks?.threads ?? []).flatMap(one => one.map((value, axis) => (value > 0 ? axis : 0))));
    return found.slice(0, last + 1).join(',');
  }

  /** Who runs an instance, to stand behind its name. */
  text(mark: Instance): string {
    const { blocks } = this;
    const worker = blocks === null ? null : workerOf(blocks, this.state.model, mark);
    return blocks === null || worker === null ? '' : `: ${workerText(blocks, worker)}`;
  }

  /** Whether the thread that runs `chosen` runs an instance too. */
  sameThread(chosen: Instance): (mark: Instance) => boolean {
    const { blocks } = this;
    const worker = blocks === null ? null : workerOf(blocks, this.state.model, chosen);
    return mark => {
      const own = blocks === null ? null : workerOf(blocks, this.state.model, mark);
      return worker !== null && own !== null && own.block === worker.block && own.thread === worker.thread;
    };
  }

  /** What the signs mean; null where none is drawn. */
  key(): HTMLElement | null {
    if (this.blocks === null) {
      return null;
    }
    const sign = (name: string): SVGElement => shape('svg', { width: 18, height: 14, 'aria-hidden': 'true' }, shape('rect', { x: 1, y: 1, width: 16, height: 12, class: name }));
    const dots = [0, 1, 2, 3].map(strength => shape('circle', { cx: 6 + 11 * strength, cy: 7, r: 4, class: `polyviz-point polyviz-worker polyviz-block-0 polyviz-strength-${strength}` }));
    const ring = shape('circle', { cx: 7, cy: 7, r: 4.5, class: 'polyviz-point polyviz-worker polyviz-block-0 polyviz-same' });
    return element(
      'div',
      { class: 'polyviz-row' },
      element('span', { class: 'polyviz-key' }, sign('polyviz-run polyviz-block-0'), sign('polyviz-run polyviz-block-1'), 'a block'),
      element('span', { class: 'polyviz-key' }, shape('svg', { width: 46, height: 14, 'aria-hidden': 'true' }, ...dots), 'threads beside each other'),
      element('span', { class: 'polyviz-key' }, shape('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, ring), 'the thread of the picked iteration')
    );
  }

  notes(): readonly string[] {
    const { variant, busy } = this.state;
    if (this.blocks !== null) {
      return this.blocks.notes;
    }
    if (variant?.device) {
      return ['Who runs the drawn iterations is not known for all of them, so no blocks are drawn.'];
    }
    return [busy === '' ? `${variant?.name ?? 'This schedule'} was not mapped to blocks and threads.` : 'Blocks and threads are on their way.'];
  }
}
