/** Iterations as points, with the exact hull per statement, tiles as outlines, and dependences as arrows. */

import { CloudCanvas, MOST_SHAPES } from './cloudCanvas';
import { drawnAxes, firstSlices, MOST_AXES, panesOf, slicesAround, type Pane, type Slices } from './clouds';
import { isShown } from './dependenceView';
import { element, freshId, items, keepingFocus, radios, shape } from './dom';
import { keyOf, partsDrawn } from './domainNotes';
import { arrow, arrowHead, axisShapes, edgeShape, laneShape, outlineLabels, polygon, round } from './drawing';
import type { Position } from './geometry';
import type { Shading } from './groups';
import type { Model, Relation, Violation } from './model';
import { KINDS, markerOf, markerPath } from './palette';
import { layOut, nearest, type PlacedMark, type Plot, type Sheet } from './plot';
import { instanceKey, instanceNumber, instanceText, NOTHING, statementNumber } from './selection';
import { saveButtons } from './savePicture';
import { sliceControls } from './sliceControls';
import type { Space, State } from './state';
import { Turning } from './turning';
import { Workers } from './workers';

/** From this many arrows on, they step back until one is picked. */
const CROWDED = 140;
/** How far points are apart that have room for the names of threads below them. */
const ROOM = 30;

export function domainView(state: State): HTMLElement {
  return new DomainView(state).root;
}

interface DrawnArrow {
  readonly relation: number;
  readonly source: string;
  readonly sink: string;
  readonly element: SVGElement;
}

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
  private slices = new Map<string, Slices>();
  private points = new Map<string, SVGElement>();
  private placed = new Map<string, PlacedMark>();
  private arrows: readonly DrawnArrow[] = [];
  /** Very many points are painted instead of being elements each. */
  private cloud: CloudCanvas | null = null;
  private violation = shape('g', {});
  private cursor: string | null = null;

  constructor(private readonly state: State) {
    this.workers = new Workers(state);
    this.turning.listen(this.stage);
    state.on(['model', 'variant', 'space'], () => this.restart());
    state.on(['selection', 'moment'], () => this.follow());
    state.on(['selection', 'filter', 'moment'], () => this.mark());
    this.restart();
  }

  /** Slices depend on what is drawn, so another space or schedule begins with its own. */
  private restart(): void {
    const panes = this.panes();
    this.slices = new Map(panes.map(pane => [pane.key, firstSlices(pane)]));
    this.caption.textContent = ' ';
    if (this.shading === 'blocks') {
      this.state.askForDevice();
    }
    this.draw();
  }

  /** Whether something is drawn in three dimensions. */
  private isSolid(): boolean {
    return this.panes().some(pane => drawnAxes(pane, this.slices.get(pane.key) ?? new Map<number, number>()).length === MOST_AXES);
  }

  private turned(): void {
    keepingFocus(this.root, () => this.draw());
  }

  private panes(): readonly Pane[] {
    return panesOf(this.state.model, this.state.variant, this.state.space);
  }

  private draw(): void {
    const panes = this.panes();
    const look = { shading: this.shading, turn: this.turning.turn };
    const sheet = layOut(panes, this.slices, this.state.model, this.state.variant, look);
    this.points = new Map();
    this.placed = new Map();
    const slice = (pane: Pane, slices: Slices): void => {
      this.slices.set(pane.key, slices);
      keepingFocus(this.root, () => this.draw());
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

  /** Move slices to where something happens: a pair that is picked, or the step of the execution. */
  private follow(): void {
    const wanted = this.wanted();
    let isMoved = false;
    for (const pane of wanted.length > 0 ? this.panes() : []) {
      const slices = this.slices.get(pane.key) ?? new Map<number, number>();
      const better = slicesAround(pane, new Set(wanted), slices);
      isMoved ||= better !== slices;
      this.slices.set(pane.key, better);
    }
    if (isMoved) {
      keepingFocus(this.root, () => this.draw());
    }
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
    const choose = (shading: Shading): void => {
      this.shading = shading;
      this.restart();
    };
    return radios('Colours', this.shading, [['tiles', 'tiles'], ['blocks', 'blocks and threads']], value => keepingFocus(this.root, () => choose(value)));
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
    const heads = new Map([...KINDS.keys(), 'violation'].map(kind => [kind, freshId('head')]));
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
    svg.append(shape('defs', {}, ...[...heads].map(([kind, id]) => arrowHead(kind, id))));
    const marks = shape('g', {});
    const labels = shape('g', {});
    for (const plot of sheet.plots) {
      svg.append(
        ...plot.outlines.map(corners => polygon(corners, 'polyviz-hull', sheet.radius)),
        ...plot.edges.filter(edge => edge.isHidden).map(edgeShape),
        ...plot.groups.map(({ corners, tint }) => polygon(corners, tint, 0)),
        ...plot.lanes.map(laneShape),
        ...plot.axes.flatMap(axisShapes),
        shape('text', { x: plot.title.x, y: plot.title.y, class: 'polyviz-title' }, plot.pane.title)
      );
      plot.marks.forEach(one => this.placed.set(one.key, one));
      if (this.cloud === null) {
        plot.marks.forEach(one => marks.append(this.point(one, sheet.radius), ...this.workerLabel(plot, one)));
        marks.append(...plot.edges.filter(edge => !edge.isHidden).map(edgeShape));
        labels.append(...outlineLabels(plot.groups));
      }
    }
    const [group, arrows] = this.dependences(sheet, heads);
    this.arrows = arrows;
    this.violation = shape('g', {});
    this.violation.dataset['head'] = heads.get('violation') ?? '';
    svg.append(group, marks, labels, this.violation);
    this.listen(svg);
    return svg;
  }

  private point(one: PlacedMark, radius: number): SVGElement {
    const path = markerPath(markerOf(one.mark.statement), round(one.position.x), round(one.position.y), radius);
    const worker = this.shading === 'blocks' ? this.workers.look(one.mark) : '';
    const made = shape('path', { d: path, class: `polyviz-point ${worker}`.trim(), 'data-key': one.key });
    this.points.set(one.key, made);
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

  private dependences(sheet: Sheet, heads: ReadonlyMap<string, string>): [SVGElement, readonly DrawnArrow[]] {
    const { model } = this.state;
    const arrows: DrawnArrow[] = [];
    const group = shape('g', {});
    model.relations.forEach((relation, number) => {
      for (const keys of pairsOf(model, relation)) {
        const ends = keys.map(key => this.placed.get(key)?.position);
        if (ends[0] !== undefined && ends[1] !== undefined && keys[0] !== keys[1]) {
          const made = arrow(ends[0], ends[1], relation.kind, heads.get(relation.kind) ?? '', sheet.radius);
          arrows.push({ relation: number, source: keys[0], sink: keys[1], element: made });
          group.append(made);
        }
      }
    });
    return [group, arrows];
  }

  private mark(): void {
    const { light, moment, past, model, selection } = this.state;
    const same = this.shading === 'blocks' && selection.what === 'instance' ? this.workers.sameThread(selection) : null;
    for (const [key, point] of this.points) {
      const isLit = light.instances.has(key) || light.whole.has(this.placed.get(key)?.mark.statement ?? -1);
      point.classList.toggle('polyviz-lit', isLit && !light.isEmpty);
      point.classList.toggle('polyviz-dim', !isLit && !light.isEmpty);
      point.classList.toggle('polyviz-now', moment?.has(key) ?? false);
      point.classList.toggle('polyviz-past', past.has(key));
      const mark = this.placed.get(key)?.mark;
      point.classList.toggle('polyviz-same', mark !== undefined && (same?.(mark) ?? false));
    }
    this.cloud?.paint(one => ({
      isNow: moment?.has(one.key) ?? false,
      isPast: past.has(one.key),
      isLit: !light.isEmpty && (light.instances.has(one.key) || light.whole.has(one.mark.statement)),
      isDim: !light.isEmpty
    }));
    const chosen = this.state.selection.what === 'instance' ? instanceKey(this.state.selection.statement, this.state.selection.instance) : null;
    const isCrowded = this.arrows.length > CROWDED;
    for (const one of this.arrows) {
      const relation = model.relations[one.relation];
      const touches = !light.onlyAtInstance || one.source === chosen || one.sink === chosen;
      const isLit = light.relations.has(one.relation) && touches;
      const isAcross = one.source.split('/')[0] !== one.sink.split('/')[0] && this.state.space === 'source';
      const isHidden = (relation !== undefined && !isShown(this.state, relation)) || (isAcross && !isLit);
      one.element.classList.toggle('polyviz-hidden', isHidden);
      one.element.classList.toggle('polyviz-lit', isLit);
      one.element.classList.toggle('polyviz-dim', !isLit && (isCrowded || !light.isEmpty));
    }
    this.drawViolation();
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
      const head = this.violation.dataset['head'] ?? '';
      this.violation.append(arrow(source.position, sink.position, 'violation', head, 6));
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
    this.points.get(this.cursor ?? '')?.classList.remove('polyviz-cursor');
    this.points.get(key ?? '')?.classList.add('polyviz-cursor');
    this.cloud?.setCursor(key);
    this.cursor = key ?? (this.root.contains(document.activeElement) ? this.cursor : null);
    this.tellOf(key);
  }
}

/** The two instances in the wrong order. */
function pairOf(model: Model, violation: Violation): readonly string[] {
  const ends: readonly (readonly [string, readonly number[]])[] = [
    [violation.source, violation.sourceInstance],
    [violation.sink, violation.sinkInstance]
  ];
  return ends.map(([name, instance]) => instanceKey(statementNumber(model, name), instanceNumber(model, name, instance)));
}

/** The drawn pairs of a dependence as keys of their instances. */
function pairsOf(model: Model, relation: Relation): readonly (readonly [string, string])[] {
  const source = statementNumber(model, relation.source);
  const sink = statementNumber(model, relation.sink);
  return relation.pairs.map(([from = -1, to = -1]) => [instanceKey(source, from), instanceKey(sink, to)]);
}

const DIRECTIONS: ReadonlyMap<string, Position> = new Map([
  ['ArrowRight', { x: 1, y: 0 }],
  ['ArrowLeft', { x: -1, y: 0 }],
  ['ArrowUp', { x: 0, y: -1 }],
  ['ArrowDown', { x: 0, y: 1 }]
]);
