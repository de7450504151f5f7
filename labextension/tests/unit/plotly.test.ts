import { afterEach, expect, test } from 'vitest';

import { requestChart } from '../../src/core/chart';
import { element } from '../../src/core/dom';
import type { Figure } from '../../src/core/figures';
import { PLOTLY, Plotly, type Turn } from '../../src/lab/plotly';
import type { Others } from '../../src/lab/renderer';

const FIGURE = { words: 'Times', data: [], layout: {}, config: {} } as unknown as Figure;

/** A host with plotly, which counts the figures that are alive. */
class FakeHost {
  alive = 0;
  readonly mimeTypes = [PLOTLY];

  createRenderer(): unknown {
    this.alive += 1;
    const node = element('div', { class: 'figure' });
    return {
      node,
      renderModel: () => Promise.resolve(),
      dispose: () => {
        this.alive -= 1;
        node.remove();
      }
    };
  }
}

function output(host: FakeHost, turn: Turn): HTMLElement {
  const node = element('div', {}, element('div', {}));
  document.body.append(node);
  new Plotly(node, host as unknown as Others, turn);
  return node.firstElementChild as HTMLElement;
}

afterEach(() => document.body.replaceChildren());

test('of all outputs of a notebook one has a live figure', () => {
  const host = new FakeHost();
  const turn = { holder: null };
  const [first, second] = [output(host, turn), output(host, turn)];
  const released: string[] = [];
  expect(requestChart(first, FIGURE, () => released.push('first'))).toBe(true);
  expect(requestChart(second, FIGURE, () => released.push('second'))).toBe(true);
  expect(host.alive).toBe(1);
  expect(released).toEqual(['first']);
  expect(second.querySelector('.figure')).not.toBeNull();
});

test('a figure that is drawn again keeps its place', () => {
  const host = new FakeHost();
  const place = output(host, { holder: null });
  const released: string[] = [];
  requestChart(place, FIGURE, () => released.push('before'));
  requestChart(place, FIGURE, () => released.push('now'));
  expect(host.alive).toBe(1);
  expect(released).toEqual([]);
});
