/** What somebody did in a kernel that is gone, schedules added and moves made by hand, so that another one does it again. */

import { fieldsOf, listOf, numberOf, textOf } from './values';

/** Work on the loops with this `text`: the schedules there, the script of all moves, and how many of them are undone. */
export interface Moves {
  readonly text: string;
  readonly schedules: readonly string[];
  readonly script: string;
  readonly undone: number;
}

/** The moves in the JSON of a view, or those that could not be made again there, and its schedules. */
export function movesOf(value: unknown): Moves {
  const fields = fieldsOf(value);
  const edit = fieldsOf(fields['edit']);
  const steps = listOf(edit['steps'], one => textOf(fieldsOf(one)['text']));
  const [start = ''] = textOf(edit['script']).split('\n');
  const made = { script: [start, ...steps].join('\n'), undone: numberOf(edit['undone']) };
  const { script, undone } = steps.length > 0 ? made : { script: textOf(fieldsOf(fields['lost'])['script']), undone: 0 };
  const schedules = listOf(fields['variants'], one => textOf(fieldsOf(one)['name'])).filter(name => name !== edit['variant']);
  return { text: textOf(fields['text']), schedules, script, undone };
}

/** Take the moves for the loops with `text` out of those that a cell had before; other ones where the cell was changed, without schedules: what it asks for now may differ. */
export function takeMoves(all: Moves[], text: string): Moves | null {
  const same = all.findIndex(one => one.text === text);
  const found = all.splice(Math.max(0, same), 1)[0];
  return found === undefined ? null : { ...found, schedules: same < 0 ? [] : found.schedules };
}
