/** The roofline without plotly: two slopes, and every variant at its height above the intensity of the work. */

import { shape } from './dom';
import { round } from './drawing';
import { gigas, rooflineRows, shareText } from './figures';
import type { Comparison, Roofline } from './model';

const SIZE = { width: 620, height: 260 };
const LEFT = 52;
const RIGHT = 250;
const TOP = 20;
const BOTTOM = 40;
const LINE = 15;

export function rooflinePicture(comparison: Comparison, roof: Roofline): SVGElement {
  const rows = [...rooflineRows(comparison)].sort((one, other) => (one.median ?? 0) - (other.median ?? 0));
  const rates = rows.map(row => roof.operations / (row.median ?? 1));
  const intensity = roof.operations / roof.bytes;
  const ridge = roof.peak / roof.memory;
  const across = [Math.log10(Math.min(intensity, ridge) / 8), Math.log10(Math.max(intensity, ridge) * 8)] as const;
  const up = [Math.log10(Math.min(...rates, roof.peak) / 2), Math.log10(roof.peak * 1.5)] as const;
  const at = (x: number, rate: number): readonly [number, number] => {
    const share = (value: number, [low, high]: readonly [number, number]): number => (Math.log10(value) - low) / (high - low);
    const height = Math.max(0, Math.min(1, share(rate, up)));
    return [round(LEFT + share(x, across) * (SIZE.width - LEFT - RIGHT)), round(SIZE.height - BOTTOM - height * (SIZE.height - TOP - BOTTOM))];
  };
  const slope = (bandwidth: number, dash: string | null): SVGElement => {
    const corner = Math.max(10 ** across[0], roof.peak / bandwidth);
    const turns = [10 ** across[0], corner, 10 ** across[1]].map(x => at(x, Math.min(roof.peak, bandwidth * x)).join(' '));
    return shape('path', { d: `M${turns.join('L')}`, class: 'polyviz-whisker', 'stroke-dasharray': dash });
  };
  let lowest = TOP - LINE;
  const points = rows.flatMap((row, place) => {
    const [x, y] = at(intensity, rates[place] ?? 1);
    lowest = Math.max(lowest + LINE, y);
    return [
      shape('line', { x1: x, y1: y, x2: SIZE.width - RIGHT + 4, y2: lowest, class: 'polyviz-zoom' }),
      shape('circle', { cx: x, cy: y, r: 4.5, class: row.label === comparison.best ? 'polyviz-dot polyviz-best' : 'polyviz-dot' }),
      shape('text', { x: SIZE.width - RIGHT + 8, y: lowest + 4 }, `${row.label}: ${shareText(row, roof)}`)
    ];
  });
  const words = [
    shape('text', { x: 2, y: 12 }, `GFLOP/s, at most ${gigas(roof.peak)}`),
    shape('text', { x: LEFT, y: SIZE.height - 22 }, `${intensity.toPrecision(3)} operations per byte that has to move; limited by the ${roof.bottleneck}`),
    shape('text', { x: LEFT, y: SIZE.height - 6 }, `slopes: memory ${gigas(roof.memory)} GB/s, dashed: last cache ${gigas(roof.cache)} GB/s`)
  ];
  const label = `Roofline: ${rows.map(row => `${row.label} ${shareText(row, roof)}`).join('; ')}`;
  return shape(
    'svg',
    { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, ...SIZE, class: 'polyviz-picture', role: 'img', 'aria-label': label },
    slope(roof.memory, null),
    slope(roof.cache, '6 4'),
    ...points,
    ...words
  );
}
