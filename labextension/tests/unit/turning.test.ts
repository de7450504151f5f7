import { afterEach, expect, test } from 'vitest';

import { along, project, turned, viewOf } from '../../src/core/geometry';
import { Inspector } from '../../src/core/inspector';
import { hullEdges } from '../../src/core/solid';
import { sample } from './sample';

const CUBE = [0, 1, 2].flatMap(x => [0, 1, 2].flatMap(y => [0, 1, 2].map(z => [x, y, z])));

afterEach(() => document.body.replaceChildren());

test('a cube has twelve edges, three of them behind', () => {
  const edges = hullEdges(CUBE, viewOf({ azimuth: 30, elevation: 25 }));
  expect(edges).toHaveLength(12);
  expect(edges.filter(edge => edge.isHidden)).toHaveLength(3);
  expect(edges.every(({ from, to }) => from.filter((value, axis) => value !== to[axis]).length === 1)).toBe(true);
  expect(hullEdges(CUBE.filter(([x]) => x === 0), [0, 0, 1])).toEqual([]);
});

test('what lies along the view falls onto one point, however it is turned', () => {
  for (const turn of [null, { azimuth: 0, elevation: 0 }, { azimuth: 200, elevation: 40 }, { azimuth: 27, elevation: 90 }]) {
    const view = viewOf(turn);
    const { x, y } = project(view, turn);
    expect(Math.hypot(x, y)).toBeLessThan(0.02);
    expect(along(view, view)).toBeGreaterThan(0.5);
  }
  expect(project([0, 0, 1], { azimuth: 27, elevation: 0 }).y).toBeCloseTo(-1);
});

test('no point hides another one before anybody turns them', () => {
  const steps = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6];
  const apart = steps.flatMap(x => steps.flatMap(y => steps.map(z => (x === 0 && y === 0 && z === 0 ? 1 : Math.hypot(...Object.values(project([x, y, z])))))));
  expect(Math.min(...apart)).toBeGreaterThan(1 / 3);
});

test('turning goes around, but not over the top', () => {
  expect(turned({ azimuth: 350, elevation: 80 }, 15, 30)).toEqual({ azimuth: 5, elevation: 90 });
});

function drawSolid(): void {
  const found = sample();
  const [statement] = found['statements'] as Record<string, unknown>[];
  const variants = (found['variants'] as Record<string, unknown>[]).map(one => ({ ...one, times: { S0: CUBE } }));
  const value = { ...found, statements: [{ ...statement, iterators: ['i', 'j', 'k'], points: CUBE, total: 27 }], relations: [], variants };
  document.body.append(new Inspector(value).root);
}

const picture = (): SVGElement => document.querySelector<SVGElement>('[aria-label=Domain] svg.polyviz-picture')!;
const placeOfFirst = (): string => document.querySelector('[data-key="0/26"]')!.getAttribute('d')!;

test('keys, buttons and dragging turn a picture in three dimensions; the way back is a button', async () => {
  drawSolid();
  const first = placeOfFirst();
  picture().dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }));
  const second = placeOfFirst();
  expect(second).not.toBe(first);
  document.querySelector<HTMLButtonElement>('[aria-label="Look from higher up"]')!.click();
  const third = placeOfFirst();
  expect(third).not.toBe(second);
  const stage = picture().parentElement!;
  const point = (type: string, x: number): MouseEvent => new MouseEvent(type, { clientX: x, clientY: 10, bubbles: true });
  stage.dispatchEvent(point('pointerdown', 10));
  stage.dispatchEvent(point('pointermove', 90));
  await new Promise(done => window.requestAnimationFrame(done));
  expect(placeOfFirst()).not.toBe(third);
  // The click at the end of the drag picks nothing.
  document.querySelector('[data-key="0/3"]')!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  expect(document.querySelectorAll('.polyviz-point.polyviz-lit')).toHaveLength(0);
  document.querySelector<HTMLButtonElement>('[aria-label="Turn back to how it was at first"]')!.click();
  expect(placeOfFirst()).toBe(first);
});

test('a flat picture is not turned', () => {
  document.body.append(new Inspector(sample()).root);
  expect(document.querySelector('[aria-label="Turn the picture"]')).toBeNull();
  const before = document.querySelector('[data-key="0/8"]')!.getAttribute('d');
  picture().dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }));
  expect(document.querySelector('[data-key="0/8"]')!.getAttribute('d')).toBe(before);
});
