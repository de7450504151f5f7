/** Values of JSON of unknown origin, each as the type that is asked for or as nothing of that type. */

import type { Point } from './model';

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
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
export const point = (value: unknown): Point => listOf(value, item => numberOf(item));

export function mapOf<T>(value: unknown, read: (item: unknown) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(fieldsOf(value)).map(([key, item]) => [key, read(item)]));
}
