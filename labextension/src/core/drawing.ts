/** The shapes of the domain view: hulls, axes and arrows. */

import { shape } from './dom';
import type { Position } from './geometry';
import { KINDS } from './palette';
import type { AxisLine, Outline, Plot } from './plot';

/** About how wide a letter of a block's name is. */
const LETTER = 4.6;
/** A longer label of an upright axis begins above it, to stay in the picture; that of another one keeps away from its numbers. */
const SHORT = 4;

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function polygon(corners: readonly Position[], name: string, padding: number): SVGElement {
  const points = corners.map(one => `${round(one.x)},${round(one.y)}`).join(' ');
  return shape('polygon', { points, class: name, 'stroke-width': padding > 0 ? padding * 4 : null });
}

export function edgeShape({ from, to, isHidden }: Plot['edges'][number]): SVGElement {
  return shape('line', { x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y), class: isHidden ? 'polyviz-edge polyviz-far' : 'polyviz-edge' });
}

/** The names of blocks, once each, where their outlines have room for them. */
export function outlineLabels(outlines: readonly Outline[]): readonly SVGElement[] {
  const named = outlines.filter(({ label }, place) => label !== '' && outlines.findIndex(one => one.label === label) === place);
  return named.flatMap(({ corners, label }) => {
    const xs = corners.map(one => one.x);
    const [left, top] = [Math.min(...xs), Math.min(...corners.map(one => one.y))];
    const width = Math.max(...xs) - left;
    const told = [label, label.replace('block ', '')].find(one => width >= LETTER * one.length);
    return told === undefined ? [] : [shape('text', { x: round(left + width / 2), y: round(top - 1), class: 'polyviz-block-name' }, told)];
  });
}

export function laneShape(lane: Position & { readonly text: string }): SVGElement {
  return shape('text', { x: round(lane.x), y: round(lane.y + 4), class: 'polyviz-lane' }, lane.text);
}

export function axisShapes(axis: AxisLine): readonly SVGElement[] {
  const numbers = axis.ticks.map(tick => shape('text', { x: round(tick.x), y: round(tick.y + 3), class: 'polyviz-tick' }, tick.text));
  const isUpright = Math.abs(axis.to.x - axis.from.x) < 1;
  const isLong = axis.label.length > SHORT;
  const far = { x: axis.to.x + (isUpright ? 0 : isLong ? 14 : 12), y: axis.to.y + (isUpright ? -11 : isLong ? 18 : 15) };
  const anchor = !isUpright ? 'end' : isLong ? 'start' : 'middle';
  return [...numbers, shape('text', { x: round(far.x - (isUpright && isLong ? 12 : 0)), y: round(far.y), class: 'polyviz-axis', 'text-anchor': anchor }, axis.label)];
}

/** The line of an arrow and its head, as the data of two paths. */
export interface ArrowPaths {
  readonly line: string;
  readonly head: string;
}

/** How far a head reaches beyond the end of its line, back along it, and to its sides. */
const HEAD = { tip: 1.2, back: 5.8, side: 3.5 };

/** A slightly bent arrow between two marks, so that one that passes over others can be told from a chain. */
export function arrowPaths(from: Position, to: Position, radius: number): ArrowPaths {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length = Math.hypot(dx, dy) || 1;
  const bend = Math.min(12, Math.max(0, length - 36) * 0.1 + 3);
  const start = { x: from.x + (dx / length) * radius, y: from.y + (dy / length) * radius };
  const end = { x: to.x - (dx / length) * (radius + 1), y: to.y - (dy / length) * (radius + 1) };
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bend, y: (from.y + to.y) / 2 + (dx / length) * bend };
  return { line: `M${at(start)}Q${at(middle)} ${at(end)}`, head: headPath(middle, end) };
}

function headPath(from: Position, end: Position): string {
  const length = Math.hypot(end.x - from.x, end.y - from.y) || 1;
  const [x, y] = [(end.x - from.x) / length, (end.y - from.y) / length];
  const corner = (forward: number, aside: number): string => at({ x: end.x + forward * x - aside * y, y: end.y + forward * y + aside * x });
  return `M${corner(HEAD.tip, 0)}L${corner(-HEAD.back, HEAD.side)}L${corner(-HEAD.back, -HEAD.side)}z`;
}

function at({ x, y }: Position): string {
  return `${round(x)} ${round(y)}`;
}

/** Arrows of one kind that look alike, as one shape. */
export function arrowShape(kind: string, arrows: readonly ArrowPaths[]): SVGElement {
  const style = KINDS.get(kind);
  const name = style === undefined && kind !== 'violation' ? 'other' : kind;
  const lines = arrows.map(one => one.line).join('');
  const heads = shape('path', { d: arrows.map(one => one.head).join(''), class: `polyviz-head polyviz-${name}` });
  const line = shape('path', { d: lines, class: `polyviz-arrow polyviz-${name}`, 'stroke-dasharray': style?.dash || null, 'stroke-width': style?.isDouble ? 3.6 : null });
  const inner = style?.isDouble ? [shape('path', { d: lines, class: 'polyviz-arrow polyviz-inner' })] : [];
  return shape('g', { class: 'polyviz-arrows' }, line, ...inner, heads);
}
