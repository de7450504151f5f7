/** Values of JSON of unknown origin, each as the type that is asked for or as nothing of that type. */

import type { Point } from './model';

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Characters that nobody sees, but that change what is seen: controls, and those that turn the direction of text around. */
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Characters of one text; the whole model of our own is smaller. */
const LONGEST = 200_000;

export function textOf(value: unknown): string {
  if (typeof value !== 'string') {
    return '';
  }
  const text = value.length > LONGEST ? `${value.slice(0, LONGEST)} … (cut: ${value.length} characters)` : value;
  return text.replace(UNSEEN, '\ufffd');
}

/** Characters of a static page, whose pictures are in it. */
const LONGEST_PAGE = 8_000_000;

/** A page of markup, which would be broken if it were cut: one that is too long is none. */
export function pageOf(value: unknown): string {
  return typeof value === 'string' && value.length <= LONGEST_PAGE ? value : '';
}

export function numberOf(value: unknown, otherwise = 0): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function listOf<T>(value: unknown, read: (item: unknown) => T): readonly T[] {
  return Array.isArray(value) ? value.map(item => read(item)) : [];
}

export const texts = (value: unknown): readonly string[] => listOf(value, textOf);
export const point = (value: unknown): Point => listOf(value, item => (Math.abs(numberOf(item)) <= Number.MAX_SAFE_INTEGER ? numberOf(item) : 0));

export function mapOf<T>(value: unknown, read: (item: unknown) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(fieldsOf(value)).map(([key, item]) => [key, read(item)]));
}
