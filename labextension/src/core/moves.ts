/** Moves that were made by hand in a kernel that is gone, so that another one makes them again. */

import { fieldsOf, listOf, numberOf, textOf } from './values';

/** Moves on the loops with this `text`: the script that makes all of them, and how many of them are undone. */
export interface Moves {
  readonly text: string;
  readonly script: string;
  readonly undone: number;
}

/** The moves in the JSON of a view, or those that could not be made again there; null where there are none. */
export function movesOf(value: unknown): Moves | null {
  const fields = fieldsOf(value);
  const edit = fieldsOf(fields['edit']);
  const steps = listOf(edit['steps'], one => textOf(fieldsOf(one)['text']));
  const [start = ''] = textOf(edit['script']).split('\n');
  const made = { script: [start, ...steps].join('\n'), undone: numberOf(edit['undone']) };
  const { script, undone } = steps.length > 0 ? made : { script: textOf(fieldsOf(fields['lost'])['script']), undone: 0 };
  return script === '' ? null : { text: textOf(fields['text']), script, undone };
}

/** Take the moves for the loops with `text` out of those that a cell had before; other ones where the cell was changed. */
export function takeMoves(all: Moves[], text: string): Moves | null {
  const same = all.findIndex(one => one.text === text);
  return all.splice(Math.max(0, same), 1)[0] ?? null;
}
