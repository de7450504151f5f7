import { afterEach, expect, test } from 'vitest';

import { banksOf, deviceMoments, meetings } from '../../src/core/deviceSteps';
import { Inspector } from '../../src/core/inspector';
import { readModel } from '../../src/core/read';
import type { Model } from '../../src/core/model';
import { sample } from './sample';

/** The statement of the sample on a device whose threads along x run `j`, a step for each `i`. */
function onDevice(place = 'global', extents: readonly number[] = [], together = 1): Record<string, unknown> {
  const found = sample();
  const [statement] = found['statements'] as { name: string; points: number[][] }[];
  const { name, points } = statement!;
  const rows = [...new Set(points.map(point => point[0]!))].sort((one, other) => one - other);
  const promotions = place === 'global' ? [] : [{ array: 'A', place, extents, bytes: 64, reason: 'read often', together }];
  const device = {
    target: 'emulated',
    kernels: [{ name: 'kernel_f_0', statements: [name], grid: ['1', '1', '1'], block: [8, 1, 1], promotions, accesses: [] }],
    places: { steps: rows.map(row => [0, 2, 1, 0, row]), at: { [name]: points.map(point => [rows.indexOf(point[0]!), point[1]]) } }
  };
  return { ...found, variants: (found['variants'] as Record<string, unknown>[]).map(one => ({ ...one, device })) };
}

function read(value: unknown): Model {
  const reading = readModel(value);
  if ('problem' in reading) {
    throw new Error(reading.problem);
  }
  return reading.model;
}

afterEach(() => document.body.replaceChildren());

test('the threads of a warp make a step together', () => {
  const model = read(onDevice());
  const device = model.variants[0]!.device!;
  const moments = deviceMoments(model, device);
  expect(moments).toHaveLength(device.places.steps.length);
  for (const moment of moments) {
    const rows = new Set(moment.map(([statement, instance]) => model.statements[statement]!.points[instance]![0]));
    expect(rows.size).toBe(1);
  }
  expect(moments.flat()).toHaveLength(model.statements[0]!.points.length);
});

test('neighbours in a row of global memory need one transaction', () => {
  const model = read(onDevice());
  const device = model.variants[0]!.device!;
  const [moment] = deviceMoments(model, device);
  const met = meetings(model, device, 0, moment!);
  expect(met.length).toBeGreaterThan(0);
  expect(met.every(one => one.memory === 'global' && one.segments.length <= 2 && one.banks === null)).toBe(true);
  expect(met[0]!.threads).toBe(moment!.length);
});

test('arrays in registers and in shared memory need no transaction', () => {
  for (const place of ['register', 'shared']) {
    const model = read(onDevice(place, [4, 8]));
    const device = model.variants[0]!.device!;
    const met = meetings(model, device, 0, deviceMoments(model, device)[0]!).filter(one => one.text.startsWith('A['));
    expect(met.every(one => one.memory === place && one.segments.length === 0)).toBe(true);
    expect(met.every(one => (one.banks !== null) === (place === 'shared'))).toBe(true);
  }
});

test('tiles that threads take in pieces say so, since their cells stand in another order', () => {
  const model = read(onDevice('shared', [4, 8], 2));
  const device = model.variants[0]!.device!;
  const met = meetings(model, device, 0, deviceMoments(model, device)[0]!).filter(one => one.text.startsWith('A['));
  expect(met.length).toBeGreaterThan(0);
  expect(met.every(one => one.memory === 'shared' && one.banks === null && one.together === 2)).toBe(true);
});

test('words of one column meet in one bank, and padding spreads them', () => {
  const column = Array.from({ length: 32 }, (_, row): readonly number[] => [row, 3]);
  expect(Math.max(...banksOf(column, [32, 32], 4))).toBe(32);
  expect(Math.max(...banksOf(column, [32, 33], 4))).toBe(1);
  const same = column.map((): readonly number[] => [5, 5]);
  expect(banksOf(same, [32, 32], 4).reduce((sum, count) => sum + count, 0)).toBe(1);
});

test('wide words go by parts of a warp', () => {
  const row = Array.from({ length: 32 }, (_, column): readonly number[] => [column]);
  expect(Math.max(...banksOf(row, [32], 8))).toBe(1);
  expect(Math.max(...banksOf(row, [32], 4))).toBe(1);
  const apart = Array.from({ length: 16 }, (_, column): readonly number[] => [2 * column]);
  expect(Math.max(...banksOf(apart, [32], 8))).toBe(2);
});

test('the slider goes warp by warp where the kernels are known', () => {
  document.body.append(new Inspector(onDevice()).root);
  const labels = [...document.querySelectorAll('label')];
  const mode = labels.find(one => one.textContent?.includes('on a GPU'))!;
  expect(mode.hidden).toBe(false);
  const part = document.querySelector<HTMLElement>('.polyviz-device-step')!;
  expect(part.hidden).toBe(true);
  mode.querySelector('input')!.click();
  expect(part.hidden).toBe(false);
  const slider = document.querySelector<HTMLInputElement>('input[aria-label="Step of the execution"]')!;
  slider.value = '0';
  slider.dispatchEvent(new Event('input'));
  expect(part.textContent).toContain('kernel_f_0, block (2, 1, 0), warp');
  expect(part.textContent).toContain('threads at work.');
  expect(part.querySelectorAll('tbody tr').length).toBeGreaterThan(0);
});

test('without kernels there is no such mode', () => {
  document.body.append(new Inspector(sample()).root);
  const mode = [...document.querySelectorAll('label')].find(one => one.textContent?.includes('on a GPU'))!;
  expect(mode.hidden).toBe(true);
});
