/** Text whose lines can be picked: the source and the generated code. */

import { breakable, element } from './dom';
import { onPick, rove } from './roving';

/** Deeper lines go on below without standing further in: there would be no room left. */
const MOST_INDENT = 16;

export interface LineList {
  readonly root: HTMLElement;
  mark(lit: ReadonlySet<number>): void;
}

/** What of a long line goes on below stands further in than its beginning: where lines begin still tells the loops. */
function hanging(line: string): string {
  const indent = Math.min(Math.max(0, line.search(/\S/)), MOST_INDENT) + 4;
  return `padding-inline-start: ${indent}ch; text-indent: -${indent}ch`;
}

/** Browsers break lines behind a hyphen, and would part a minus from its number. */
const NEGATIVE = /(-\(?\w{1,24})/;

/** Where nothing of such a word had room beside the indent, the line would begin with an empty one. */
const LONG = /(\S{20,})/;

function whole(code: string): readonly (Node | string)[] {
  return code.split(NEGATIVE).flatMap((part, place) => (place % 2 === 1 ? [element('span', { class: 'polyviz-whole' }, part)] : part.split(LONG).flatMap(breakableIfLong)));
}

function breakableIfLong(part: string, place: number): readonly (Node | string)[] {
  return place % 2 === 1 ? breakable(part) : [part];
}

/** A line with the short remark at its end, such as the number of a source line, in one piece. */
function remarked(line: string): readonly (Node | string)[] {
  const remark = /  # .{1,24}$/.exec(line)?.[0] ?? '';
  const rest = line.slice(0, line.length - remark.length);
  const told = line === '' ? [' '] : whole(rest);
  return remark === '' ? told : [...told, element('span', { class: 'polyviz-remark' }, remark)];
}

export function lineList(label: string, text: string, first: number, pick: (line: number) => void): LineList {
  const lines = text.replace(/\n$/, '').split('\n');
  const options = lines.map((line, place) => {
    const option = element(
      'div',
      {
        role: 'option',
        'aria-selected': 'false',
        'aria-label': line.trim() === '' ? `empty line ${first + place}` : null,
        class: 'polyviz-line'
      },
      element('span', { class: 'polyviz-number', 'aria-hidden': 'true' }, String(first + place)),
      element('code', { style: hanging(line) }, ...remarked(line))
    );
    onPick(option, () => pick(first + place));
    return option;
  });
  const root = element('div', { role: 'listbox', 'aria-multiselectable': 'true', 'aria-label': label, class: 'polyviz-lines' }, ...options);
  rove(root, '[role=option]');
  const mark = (lit: ReadonlySet<number>): void => {
    options.forEach((option, place) => option.setAttribute('aria-selected', String(lit.has(first + place))));
    const top = options.find((_, place) => lit.has(first + place))?.offsetTop;
    const isSeen = top !== undefined && top >= root.scrollTop && top < root.scrollTop + root.clientHeight - 20;
    if (top !== undefined && !isSeen) {
      root.scrollTop = top - root.clientHeight / 2;
    }
  };
  return { root, mark };
}
