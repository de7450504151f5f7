/** The command that turns a cell of loops into one that is inspected, and runs it. */

export const MAGIC = '%%polyopt';
const INSPECT = '--inspect';

/** Whether the text of a cell begins with the magic. */
export function hasMagic(text: string): boolean {
  return text.split('\n')[0]!.trim().split(/\s+/)[0] === MAGIC;
}

/**
 * The text of a cell with `--inspect` on its magic line; the magic is put there where it is missing, with `options` behind
 * it. Null where nothing would be inspected: a cell without a loop, or with another cell magic.
 */
export function inspected(text: string, options = ''): string | null {
  if (!text.startsWith('%%')) {
    const line = [MAGIC, INSPECT, ...options.trim().split(/\s+/)].join(' ').trimEnd();
    return /^\s*(for|def)\b/m.test(text) ? `${line}\n${text}` : null;
  }
  const [first = '', ...rest] = text.split('\n');
  const words = first.trim().split(/\s+/).slice(1);
  if (!hasMagic(text)) {
    return null;
  }
  return words.includes(INSPECT) ? text : [`${MAGIC} ${[INSPECT, ...words].join(' ')}`, ...rest].join('\n');
}
