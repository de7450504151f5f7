/** Iterations as points, with the exact hull per statement, tiles as outlines, and dependences as arrows. */

import { Arrows, type ArrowLook } from './arrows';
import { CloudCanvas, MOST_SHAPES } from './cloudCanvas';
import { drawnAxes, firstSlices, MOST_AXES, panesOf, slicesAround, type Pane, type Slices } from './clouds';
import { isShown } from './dependenceView';
import { element, items, keepingFocus, radios, setAttribute, shape } from './dom';
import { keyOf, partsDrawn } from './domainNotes';
import { arrowPaths, arrowShape, axisShapes, edgeShape, laneShape, outlineLabels, polygon, round } from './drawing';
import type { Position } from './geometry';
import type { Shading } from './groups';
import { loopsOf } from './loops';
import { markerOf, markerPath } from './palette';
import { layOut, nearest, type PlacedMark, type Plot, type Sheet } from './plot';
import { instanceKey, instanceText, NOTHING, pairOf, pairsOf } from './selection';
import { saveButtons } from './savePicture';
import { sliceControls } from './sliceControls';
import type { Change, Space, State } from './state';
import { Turning } from './turning';
import { Workers } from './workers';

/** How far points are apart that have room for the names of threads below them. */
const ROOM = 30;

export function domainView(state: State): HTMLElement {
  return new DomainView(state).root;
}

/** A point with the classes that it has however it is lit, and those that it has now. */
interface Point {
  readonly element: SVGElement;
  readonly own: string;
  look: string;
}

const REDRAWS: ReadonlySet<Change> = new Set<Change>(['model', 'variant', 'space']);

class DomainView {
  private readonly above = element('div', {});
  /** What stays while the picture in it is drawn anew, so that a drag goes on. */
  private readonly stage = element('div', {});
  private readonly below = element('div', {});
  readonly root = element('div', {}, this.above, this.stage, this.below);
  private readonly caption = element('p', { class: 'polyviz-caption', 'aria-live': 'polite' }, ' ');
  private readonly turning = new Turning(() => this.turned(), () => this.isSolid());
  private readonly workers: Workers;
  private shading: Shading = 'tiles';
  /** What is drawn, before any pixel: made anew for another model, schedule or space only. */
  private panes: readonly Pane[] = [];
  private slices = new Map<string, Slices>();
  private points = new Map<string, Point>();
  private placed = new Map<string, PlacedMark>();
  private arrows: Arrows | null = null;
  /** Very many points are painted instead of being elements each. */
  private cloud: CloudCanvas | null = null;
  private violation = shape('g', {});
  private cursor: string | null = null;

  constructor(private readonly state: State) {
    this.workers = new Workers(state);
    this.turning.listen(this.stage);
    state.on([...REDRAWS, 'selection', 'filter', 'moment'], told => this.changed(told));
    this.restart(true);
  }

  /** Draw, or only light what is there, once for all that has changed. */
  private changed(told: readonly Change[]): void {
    const redraws = told.some(one => REDRAWS.has(one));
    if (redraws) {
      const begins = told.includes('order') || told.includes('space');
      this.keepingPlace(() => this.restart(begins));
    }
    if (!this.follow() && !redraws) {
      this.mark();
    }
  }

  /** Slices depend on what is drawn, so another space or schedule begins with its own. */
  private restart(begins: boolean): void {
    this.panes = panesOf(this.state.model, this.state.variant, this.state.space);
    if (begins) {
      this.slices = new Map(this.panes.map(pane => [pane.key, firstSlices(pane)]));
      this.caption.textContent = ' ';
    }
    if (this.shading === 'blocks') {
      this.state.askForDevice();
    }
    this.draw();
  }

  /** Whether something is drawn in three dimensions. */
  private isSolid(): boolean {
    return this.panes.some(pane => drawnAxes(pane, this.slices.get(pane.key) ?? new Map<number, number>()).length === MOST_AXES);
  }

  private turned(): void {
    this.keepingPlace(() => this.draw());
  }

  /** Draw anew under the hands of whoever is in the picture: the focus and the point that the keys have come to stay. */
  private keepingPlace(redraw: () => void): void {
    const { cursor } = this;
    keepingFocus(this.root, redraw);
    if (cursor !== null && this.placed.has(cursor) && this.stage.contains(document.activeElement)) {
      this.moveCursor(cursor);
    }
  }

  private draw(): void {
    const { panes } = this;
    const look = { shading: this.shading, turn: this.turning.turn };
    const sheet = layOut(panes, this.slices, this.state.model, this.state.variant, look);
    this.points = new Map();
    this.placed = new Map();
    const slice = (pane: Pane, slices: Slices): void => {
      this.slices.set(pane.key, slices);
      this.keepingPlace(() => this.draw());
    };
    const isOpen = this.root.querySelector('details')?.open ?? false;
    const controls = sliceControls(panes, this.slices, isOpen, slice);
    const notes = [...partsDrawn(this.state.model), ...this.hiddenPairs(), ...(this.shading === 'blocks' ? this.workers.notes() : [])];
    const drawing = panes.length > 0 ? this.picture(sheet) : element('p', {}, 'No instance to draw for these values.');
    const save = saveButtons(() => this.state.model.name, () => this.root.querySelector<SVGSVGElement>('svg.polyviz-picture'));
    const bottom = element('div', { class: 'polyviz-row' }, this.caption, save);
    const turns = this.isSolid() ? this.turning.controls() : null;
    const below = [turns, this.shading === 'blocks' ? this.workers.key() : null, keyOf(this.state.model, panes), controls, items(notes)];
    this.stage.replaceChildren(drawing);
    this.stage.classList.toggle('polyviz-turnable', turns !== null);
    this.above.replaceChildren(element('div', { class: 'polyviz-row' }, this.spaces(), this.shadings()));
    this.below.replaceChildren(...(panes.length > 0 ? [bottom] : []), ...below.filter(one => one !== null));
    this.mark();
  }

  /** Move slices to where something happens: a pair that is picked, or the step of the execution. Whether it drew. */
  private follow(): boolean {
    const wanted = this.wanted();
    let isMoved = false;
    for (const pane of wanted.length > 0 ? this.panes : []) {
      const slices = this.slices.get(pane.key) ?? new Map<number, number>();
      const better = slicesAround(pane, new Set(wanted), slices);
      isMoved ||= better !== slices;
      this.slices.set(pane.key, better);
    }
    if (isMoved) {
      this.keepingPlace(() => this.draw());
    }
    return isMoved;
  }

  /** What has to be in the slices: the pair that forbids a move, one of the dependence picked, or what runs at this step. */
  private wanted(): readonly string[] {
    const { selection, model, moment } = this.state;
    if (selection.what === 'violation') {
      return pairOf(model, selection.violation);
    }
    const relation = selection.what === 'relation' ? model.relations[selection.relation] : undefined;
    if (relation !== undefined) {
      const pairs = pairsOf(model, relation);
      const isSeen = pairs.some(pair => pair.every(key => this.placed.has(key)));
      return isSeen ? [] : pairs[Math.floor(pairs.length / 2)] ?? [];
    }
    return [...(moment ?? [])].slice(0, 1);
  }

  /** Arrows from statement to statement would cover everything, so they wait until somebody asks for them. */
  private hiddenPairs(): readonly string[] {
    const across = this.state.model.relations.filter(one => one.source !== one.sink && one.pairs.length > 0);
    const isHidden = across.length > 0 && this.state.space === 'source';
    return isHidden ? ['Arrows between different statements are drawn when one of their dependences, iterations or lines is picked.'] : [];
  }

  private spaces(): HTMLElement {
    const choose = (space: Space): void => {
      this.state.space = space;
      this.state.tell('space');
    };
    return radios('Space', this.state.space, [['source', 'as written'], ['schedule', 'scheduled']], value => keepingFocus(this.root, () => choose(value)));
  }

  /** Blocks and threads can be shown where they are known, or somebody can be asked for them. */
  private shadings(): HTMLElement | null {
    const { state } = this;
    if (state.host === null && !state.model.variants.some(one => one.device?.blocks)) {
      return null;
    }
    const hasTiles = state.variant !== undefined && loopsOf(state.variant).some(loop => loop.member.role === 'tile');
    const choose = (shading: Shading): void => {
      this.shading = shading;
      this.restart(true);
    };
    return radios('Colours', this.shading, [['tiles', hasTiles ? 'tiles' : 'none'], ['blocks', 'blocks and threads']], value => keepingFocus(this.root, () => choose(value)));
  }

  /** The drawing, on top of a canvas where there are too many points for elements. */
  private picture(sheet: Sheet): Element {
    const marks = sheet.plots.flatMap(plot => plot.marks);
    this.cloud = marks.length > MOST_SHAPES ? new CloudCanvas(marks, sheet) : null;
    const svg = this.drawing(sheet);
    if (this.cloud === null) {
      return svg;
    }
    const stack = element('div', { class: 'polyviz-stack' }, this.cloud.root, svg);
    stack.style.width = `${round(sheet.width)}px`;
    return stack;
  }

  private drawing(sheet: Sheet): SVGElement {
    const names = [...new Set(sheet.plots.flatMap(plot => plot.marks.map(one => one.mark.statement)))];
    const shown = names.map(number => this.state.model.statements[number]?.name ?? '').join(', ');
    const svg = shape('svg', {
      viewBox: `0 0 ${round(sheet.width)} ${round(sheet.height)}`,
      width: round(sheet.width),
      class: 'polyviz-picture',
      tabindex: 0,
      role: 'application',
      'aria-label': `Iterations of ${shown}. Arrow keys move, Enter selects, Escape clears.${this.isSolid() ? ' Shift and arrow keys turn.' : ''}`
    });
    const marks = shape('g', {});
    const labels = shape('g', {});
    for (const plot of sheet.plots) {
      svg.append(
        ...plot.outlines.map(corners => polygon(corners, 'polyviz-hull', sheet.radius)),
        ...plot.edges.filter(edge => edge.isHidden).map(edgeShape),
        ...plot.groups.map(({ corners, tint }) => polygon(corners, tint, 0)),
        ...plot.lanes.map(laneShape),
        shape('text', { x: plot.title.x, y: plot.title.y, class: 'polyviz-title' }, plot.title.text)
      );
      // Long names of axes reach into the picture: above its points they stay readable.
      labels.append(...plot.axes.flatMap(axisShapes));
      plot.marks.forEach(one => this.placed.set(one.key, one));
      if (this.cloud === null) {
        plot.marks.forEach(one => marks.append(this.point(one, sheet.radius), ...this.workerLabel(plot, one)));
        marks.append(...plot.edges.filter(edge => !edge.isHidden).map(edgeShape));
        labels.append(...outlineLabels(plot.groups));
      }
    }
    this.arrows = new Arrows(this.state.model, this.placed, sheet.radius);
    this.violation = shape('g', {});
    svg.append(this.arrows.root, marks, labels, this.violation);
    this.listen(svg);
    return svg;
  }

  private point(one: PlacedMark, radius: number): SVGElement {
    const path = markerPath(markerOf(one.mark.statement), round(one.position.x), round(one.position.y), radius);
    const worker = this.shading === 'blocks' ? this.workers.look(one.mark) : '';
    const own = `polyviz-point ${worker}`.trim();
    const made = shape('path', { d: path, class: own, 'data-key': one.key });
    this.points.set(one.key, { element: made, own, look: own });
    return made;
  }

  /** The thread beside the point, where there is room for it. */
  private workerLabel(plot: Plot, one: PlacedMark): readonly SVGElement[] {
    if (this.shading !== 'blocks' || plot.isSolid || plot.unit < ROOM || plot.pane.statements.length > 1) {
      return [];
    }
    const { x, y } = one.position;
    return [shape('text', { x: round(x + 6), y: round(y + 11), class: 'polyviz-thread-name' }, this.workers.thread(one.mark))];
  }

  private mark(): void {
    const { light, moment, past, selection } = this.state;
    const same = this.shading === 'blocks' && selection.what === 'instance' ? this.workers.sameThread(selection) : null;
    for (const [key, point] of this.points) {
      const { mark } = this.placed.get(key)!;
      const isLit = !light.isEmpty && (light.instances.has(key) || light.whole.has(mark.statement));
      const signs: readonly (readonly [boolean, string])[] = [
        [isLit, ' polyviz-lit'],
        [!isLit && !light.isEmpty, ' polyviz-dim'],
        [moment?.has(key) ?? false, ' polyviz-now'],
        [past.has(key), ' polyviz-past'],
        [same?.(mark) ?? false, ' polyviz-same'],
        [key === this.cursor, ' polyviz-cursor']
      ];
      restyle(point, signs);
    }
    this.cloud?.paint(({ key, mark }) => {
      if (moment?.has(key)) {
        return 'now';
      }
      const isLit = !light.isEmpty && (light.instances.has(key) || light.whole.has(mark.statement));
      return isLit ? 'lit' : !light.isEmpty ? 'dim' : past.has(key) ? 'past' : 'plain';
    });
    this.arrows?.mark(number => this.arrowLook(number), !light.isEmpty);
    this.drawViolation();
  }

  private arrowLook(number: number): ArrowLook {
    const { light, model, selection, space } = this.state;
    const relation = model.relations[number];
    if (relation === undefined || !isShown(this.state, relation)) {
      return { isHidden: true, isLit: false, at: null };
    }
    const isLit = light.relations.has(number);
    const at = isLit && light.onlyAtInstance && selection.what === 'instance' ? instanceKey(selection.statement, selection.instance) : null;
    const isAcross = relation.source !== relation.sink && space === 'source';
    return { isHidden: isAcross && (!isLit || at !== null), isLit, at };
  }

  /** The two instances in the wrong order, joined by an arrow of their own. */
  private drawViolation(): void {
    const { selection, model } = this.state;
    this.violation.replaceChildren();
    if (selection.what !== 'violation') {
      return;
    }
    const { violation } = selection;
    const [source, sink] = pairOf(model, violation).map(key => this.placed.get(key));
    if (source === undefined || sink === undefined) {
      this.caption.textContent = 'Not both iterations of the pair are in what is drawn.';
    }
    const rings = [source, sink].flatMap(one =>
      one === undefined ? [] : [shape('circle', { cx: one.position.x, cy: one.position.y, r: 9, class: 'polyviz-ring' })]
    );
    this.violation.append(...rings);
    // Whoever asks "why?" far below wants to see the pair.
    this.violation.closest('svg')?.scrollIntoView?.({ block: 'nearest' });
    if (source !== undefined && sink !== undefined) {
      this.violation.append(arrowShape('violation', [arrowPaths(source.position, sink.position, 6)]));
    }
  }

  private listen(svg: SVGElement): void {
    svg.addEventListener('click', event => this.pick(this.keyAt(event)));
    svg.addEventListener(this.cloud === null ? 'pointerover' : 'pointermove', event => this.tellOf(this.keyAt(event)));
    svg.addEventListener('keydown', event => this.key(event));
    svg.addEventListener('blur', () => this.moveCursor(null));
  }

  private keyAt(event: MouseEvent): string | null {
    return this.cloud === null ? (event.target as Element).getAttribute('data-key') : this.cloud.keyAt(event);
  }

  private pick(key: string | null): void {
    const mark = key === null ? undefined : this.placed.get(key)?.mark;
    this.state.select(mark === undefined ? NOTHING : { what: 'instance', statement: mark.statement, instance: mark.instance });
  }

  private tellOf(key: string | null): void {
    const mark = key === null ? undefined : this.placed.get(key)?.mark;
    if (mark !== undefined) {
      const worker = this.shading === 'blocks' ? this.workers.text(mark) : '';
      this.caption.textContent = `${instanceText(this.state.model, mark.statement, mark.instance)}${worker}`;
    }
  }

  private key(event: KeyboardEvent): void {
    const direction = DIRECTIONS.get(event.key);
    if (this.turning.key(event)) {
      this.root.querySelector<SVGElement>('svg.polyviz-picture')?.focus();
    } else if (direction !== undefined) {
      this.moveCursor(nearest(this.placed, this.cursor, direction));
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.pick(this.cursor);
    } else if (event.key === 'Escape') {
      this.pick(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private moveCursor(key: string | null): void {
    this.points.get(this.cursor ?? '')?.element.classList.remove('polyviz-cursor');
    this.points.get(key ?? '')?.element.classList.add('polyviz-cursor');
    this.cloud?.setCursor(key);
    this.cursor = key ?? (this.root.contains(document.activeElement) ? this.cursor : null);
    this.tellOf(key);
  }
}

/** Write the classes of a point where they change: touching thousands of elements makes the page look at all of them. */
function restyle(point: Point, signs: readonly (readonly [boolean, string])[]): void {
  let look = point.own;
  for (const [isSet, name] of signs) {
    if (isSet) {
      look += name;
    }
  }
  if (look !== point.look) {
    point.look = look;
    setAttribute(point.element, 'class', look);
  }
}

const DIRECTIONS: ReadonlyMap<string, Position> = new Map([
  ['ArrowRight', { x: 1, y: 0 }],
  ['ArrowLeft', { x: -1, y: 0 }],
  ['ArrowUp', { x: 0, y: -1 }],
  ['ArrowDown', { x: 0, y: 1 }]
]);
