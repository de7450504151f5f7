/** The command that turns a cell of loops into one that is inspected, and runs it. */

export const MAGIC = '%%polyopt';
const INSPECT = '--inspect';
/** Options that say how to run, with the number of values behind them: an inspection runs nothing, and refuses them. */
const OF_A_RUN: ReadonlyMap<string, number> = new Map([
  ...['-t', '--target', '--tile', '--threads', '--without', '--contract', '--repeats', '--show', '--tune'].map(name => [name, 1] as const),
  ...['--compare', '--no-verify'].map(name => [name, 0] as const)
]);

/** Whether the text of a cell begins with the magic. */
export function hasMagic(text: string): boolean {
  return text.split('\n')[0]!.trim().split(/\s+/)[0] === MAGIC;
}

/**
 * The text of a cell with `--inspect` on its magic line; the magic is put there where it is missing, with `options` behind
 * it, and what only counts for a run is left out. Null where nothing would be inspected: a cell without a loop, or with another cell magic.
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
  return words.includes(INSPECT) ? text : [`${MAGIC} ${[INSPECT, ...kept(words)].join(' ')}`, ...rest].join('\n');
}

/** The words that also count for an inspection. */
function kept(words: readonly string[]): readonly string[] {
  const left: string[] = [];
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place]!;
    const values = OF_A_RUN.get(word.split('=')[0]!);
    const next = words[place + 1];
    if (values === undefined) {
      left.push(word);
    } else if (values === 1 && !word.includes('=') && next !== undefined && !next.startsWith('-')) {
      place += 1;
    }
  }
  return left;
}
