/**
 * Who runs which iteration of a statement: a colour per block, other ones beside it, with lines between them, and a shade
 * per quarter of the threads along x. A pick, with the pointer or with the arrow keys, shows everything that the same
 * thread does and outlines its block, which is how one of hundreds is told from the others.
 */

import type { Placed, ThreadPicture } from './device';
import { element, items, shape } from './dom';

const CELL = 8;
const LEFT = 26;
const TOP = 16;
/** About how wide a letter is. */
const LETTER = 7;
/** Iterations in a row where only one iterator is drawn: those of a warp, and three such pictures stand side by side. */
const ROW = 32;
const COLOURS = 5;
const SHADES = [1, 0.75, 0.55, 0.35];
const MOVES: ReadonlyMap<string, readonly [number, number]> = new Map([['ArrowRight', [1, 0]], ['ArrowLeft', [-1, 0]], ['ArrowDown', [0, 1]], ['ArrowUp', [0, -1]]]);

/** The room that the name of an axis takes, with its arrow. */
function wide(name = ''): number {
  return LETTER * (name.length + 2);
}

export function threadPicture(picture: ThreadPicture): HTMLElement {
  return new ThreadPictureView(picture).root;
}

class ThreadPictureView {
  readonly root = element('div', { class: 'polyviz-threads' });
  private readonly cells: readonly (readonly [number, number])[];
  private readonly at: ReadonlyMap<string, number>;
  private readonly rings = shape('path', { class: 'polyviz-thread-ring' });
  private readonly outline = shape('path', { class: 'polyviz-thread-outline' });
  private readonly sentence = element('p', { 'aria-live': 'polite', class: 'polyviz-thread-sentence' });
  /** Where the columns begin: behind the name of the rows. */
  private readonly left: number;
  private cursor = 0;

  constructor(private readonly picture: ThreadPicture) {
    this.cells = cellsOf(picture);
    this.left = picture.iterators.length === 2 ? Math.max(LEFT, wide(picture.iterators[0])) : LEFT;
    this.at = new Map(this.cells.map(([x, y], place) => [`${x} ${y}`, place]));
    const notes = items([...picture.rules, ...(picture.note === '' ? [] : [picture.note])]);
    this.root.append(element('p', { class: 'polyviz-word' }, picture.title));
    if (this.cells.length > 0) {
      this.root.append(element('div', { class: 'polyviz-scroll' }, this.drawing()), this.sentence, element('p', { class: 'polyviz-muted' }, legend(picture)));
      this.pick(0);
    }
    this.root.append(...(notes === null ? [] : [notes]));
  }

  private drawing(): SVGElement {
    const { picture, cells } = this;
    const columns = 1 + Math.max(...cells.map(([x]) => x));
    const rows = 1 + Math.max(...cells.map(([, y]) => y));
    const size = { width: this.left + Math.max(columns * CELL + 6, wide(picture.iterators.at(-1))), height: TOP + rows * CELL + 6 };
    const [first = '', second = ''] = picture.iterators;
    const names = picture.iterators.length === 2 ? [shape('text', { x: 2, y: TOP + 12 }, `${first} ↓`), shape('text', { x: this.left, y: 11 }, `${second} →`)] : [shape('text', { x: this.left, y: 11 }, `${first} →`)];
    const svg = shape(
      'svg',
      { viewBox: `0 0 ${size.width} ${size.height}`, ...size, class: 'polyviz-picture polyviz-pickable', role: 'img', tabindex: 0, 'aria-label': `${picture.title}; the arrow keys go from iteration to iteration` },
      ...groupsOf(picture).map(([colour, shade, members]) => shape('path', { d: this.dots(members, 0.36), class: `polyviz-thread-dot polyviz-block-${colour}`, 'stroke-opacity': shade, 'stroke-width': 0.72 * CELL })),
      shape('path', { d: this.borders(this.picture.placed.map((_, place) => place)), class: 'polyviz-thread-border' }),
      this.outline,
      this.rings,
      ...names
    );
    svg.addEventListener('pointermove', event => this.point(svg, event as PointerEvent));
    svg.addEventListener('click', event => this.point(svg, event as PointerEvent));
    svg.addEventListener('keydown', event => this.step(event as KeyboardEvent));
    return svg;
  }

  /** A dot is a line without length and with round ends. */
  private dots(members: readonly number[], radius: number): string {
    return members.map(place => `M${this.x(place)} ${this.y(place)}${radius > 0.4 ? `m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0` : 'h0'}`).join('');
  }

  /** The sides of cells beyond which another block has the iteration, or nobody. */
  private borders(members: readonly number[]): string {
    const { placed } = this.picture;
    const differs = (place: number, x: number, y: number): boolean => {
      const other = placed[this.at.get(`${x} ${y}`) ?? -1];
      const one = placed[place];
      return one !== undefined && (other === undefined || !isSame(one.block, other.block));
    };
    return members
      .map(place => {
        const [x, y] = this.cells[place] ?? [0, 0];
        const [left, top] = [this.left + x * CELL, TOP + y * CELL];
        const sides = [
          differs(place, x, y - 1) ? `M${left} ${top}h${CELL}` : '',
          differs(place, x, y + 1) ? `M${left} ${top + CELL}h${CELL}` : '',
          differs(place, x - 1, y) ? `M${left} ${top}v${CELL}` : '',
          differs(place, x + 1, y) ? `M${left + CELL} ${top}v${CELL}` : ''
        ];
        return sides.join('');
      })
      .join('');
  }

  private x(place: number): number {
    return this.left + ((this.cells[place]?.[0] ?? 0) + 0.5) * CELL;
  }

  private y(place: number): number {
    return TOP + ((this.cells[place]?.[1] ?? 0) + 0.5) * CELL;
  }

  private point(svg: SVGElement, event: PointerEvent): void {
    const box = svg.getBoundingClientRect();
    const scale = box.width === 0 ? 1 : Number(svg.getAttribute('width')) / box.width;
    const x = Math.floor(((event.clientX - box.left) * scale - this.left) / CELL);
    const y = Math.floor(((event.clientY - box.top) * scale - TOP) / CELL);
    this.pick(this.at.get(`${x} ${y}`) ?? this.cursor);
  }

  private step(event: KeyboardEvent): void {
    const move = MOVES.get(event.key);
    const from = this.cells[this.cursor];
    if (move === undefined || from === undefined) {
      return;
    }
    event.preventDefault();
    this.pick(this.at.get(`${from[0] + move[0]} ${from[1] + move[1]}`) ?? this.cursor);
    this.follow();
  }

  /** What the arrow keys have come to is in sight, in a picture that is larger than its place. */
  private follow(): void {
    const place = this.root.querySelector('.polyviz-scroll');
    if (place !== null) {
      place.scrollLeft = within(place.scrollLeft, this.x(this.cursor), place.clientWidth);
      place.scrollTop = within(place.scrollTop, this.y(this.cursor), place.clientHeight);
    }
  }

  private pick(place: number): void {
    const { placed, statement } = this.picture;
    const one = placed[place];
    if (one === undefined) {
      return;
    }
    this.cursor = place;
    const same = placed.flatMap((other, number) => (isSame(one.block, other.block) && isSame(one.thread, other.thread) ? [number] : []));
    this.rings.setAttribute('d', this.dots(same, 0.5));
    const own = placed.flatMap((other, number) => (isSame(one.block, other.block) ? [number] : []));
    this.outline.setAttribute('d', this.borders(own));
    const others = same.length === 1 ? 'and nothing else here' : `and ${same.length - 1} more here, ringed`;
    const block = own.length === placed.length ? '' : ` Its block, outlined, has ${own.length} of the ${placed.length} iterations drawn.`;
    this.sentence.textContent = `Thread (${one.thread.join(', ')}) of block (${one.block.join(', ')}) runs ${statement}[${one.iteration.join(', ')}] ${others}.${block}`;
  }
}

/** Where a part of `size` begins to show `at` and two cells around it: where it does, or as near to there as can be. */
export function within(begin: number, at: number, size: number): number {
  return Math.min(Math.max(begin, at + 2 * CELL - size), at - 2 * CELL);
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.every((value, axis) => value === other[axis]);
}

/** Column and row of every iteration; a single line is broken into rows. */
function cellsOf(picture: ThreadPicture): readonly (readonly [number, number])[] {
  const { placed } = picture;
  const lowest = (axis: number): number => Math.min(...placed.map(one => one.iteration[axis] ?? 0));
  const [first, second] = [lowest(0), lowest(1)];
  return placed.map(({ iteration: [one = 0, other] }) => (other === undefined ? [(one - first) % ROW, Math.floor((one - first) / ROW)] : [other - second, one - first]));
}

function groupsOf(picture: ThreadPicture): readonly (readonly [number, number, readonly number[]])[] {
  const groups = new Map<string, readonly [number, number, number[]]>();
  picture.placed.forEach((one: Placed, place) => {
    const block = colourOf(one.block);
    const quarter = Math.min(SHADES.length - 1, Math.floor((SHADES.length * one.thread[0]) / Math.max(1, picture.block[0] ?? 1)));
    const key = `${block} ${quarter}`;
    const group = groups.get(key) ?? [block, SHADES[quarter] ?? 1, []];
    groups.set(key, group);
    group[2].push(place);
  });
  return [...groups.values()];
}

/** Blocks beside each other along any axis of the grid have different colours. */
function colourOf([x, y, z]: readonly [number, number, number]): number {
  return (((x + 2 * y + 4 * z) % COLOURS) + COLOURS) % COLOURS;
}

function legend(picture: ThreadPicture): string {
  const blocks = new Set(picture.placed.map(one => one.block.join())).size;
  const x = picture.block[0] ?? 1;
  const shades = x > 1 ? `; from strong to pale: thread x from 0 to ${x - 1}` : '';
  const told = blocks === 1 ? 'One block' : `${blocks} blocks, with lines between them; neighbours have different colours`;
  return `${told}${shades}. Point at an iteration, or go there with the arrow keys.`;
}
