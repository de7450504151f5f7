/** How kinds of dependences and statements are told apart: the same signs as `polyviz/views/palette.py`. */

export interface LineStyle {
  readonly dash: string;
  readonly isDouble: boolean;
  readonly meaning: string;
}

/** Two reads of one cell: they order nothing, and are shown when somebody asks for them. */
export const INPUT = 'input';

export const KINDS: ReadonlyMap<string, LineStyle> = new Map([
  ['flow', { dash: '', isDouble: false, meaning: 'write, then read' }],
  ['anti', { dash: '6 3', isDouble: false, meaning: 'read, then write' }],
  ['output', { dash: '1.5 3', isDouble: false, meaning: 'write, then write' }],
  ['reduction', { dash: '', isDouble: true, meaning: 'may be reordered' }],
  [INPUT, { dash: '10 3 2 3', isDouble: false, meaning: 'read, then read again: in any order' }]
]);

const MARKERS = ['circle', 'square', 'triangle', 'diamond'] as const;
export type Marker = (typeof MARKERS)[number];

export function markerOf(statement: number): Marker {
  return MARKERS[statement % MARKERS.length] ?? 'circle';
}

/** The path of a marker around a centre. */
export function markerPath(marker: Marker, x: number, y: number, radius: number): string {
  const r = radius;
  switch (marker) {
    case 'square':
      return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case 'triangle':
      return `M${x} ${y - 1.25 * r}L${x + 1.2 * r} ${y + r}H${x - 1.2 * r}z`;
    case 'diamond':
      return `M${x} ${y - 1.4 * r}L${x + 1.4 * r} ${y}L${x} ${y + 1.4 * r}L${x - 1.4 * r} ${y}z`;
    default:
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
}
