/** The command that turns a cell of loops into one that is inspected, and runs it. */

const MAGIC = '%%polyopt';
const INSPECT = '--inspect';

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
  const [magic, ...words] = first.trim().split(/\s+/);
  if (magic !== MAGIC) {
    return null;
  }
  return words.includes(INSPECT) ? text : [`${MAGIC} ${[INSPECT, ...words].join(' ')}`, ...rest].join('\n');
}
