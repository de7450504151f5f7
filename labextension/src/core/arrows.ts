/**
 * Dependences as arrows. Those of a relation that look alike are one shape: an element for each of thousands of arrows would
 * take longer to lay out and to paint than a person waits for a picture.
 */

import { setAttribute, shape } from './dom';
import { arrowPaths, arrowShape, type ArrowPaths } from './drawing';
import type { Model, Relation } from './model';
import type { PlacedMark } from './plot';
import { instanceKey, statementNumber } from './selection';

/** From this many arrows on, they step back until one is picked. */
const CROWDED = 140;

/** How the arrows of a relation are to look; with `at` only those that touch an instance are lit, by its key. */
export interface ArrowLook {
  readonly isHidden: boolean;
  readonly isLit: boolean;
  readonly at: string | null;
}

interface Arrow extends ArrowPaths {
  readonly source: string;
  readonly sink: string;
}

export class Arrows {
  readonly root = shape('g', {});
  private readonly bundles: readonly Bundle[];

  constructor(
    readonly model: Model,
    placed: ReadonlyMap<string, PlacedMark>,
    radius: number
  ) {
    this.bundles = model.relations.map(relation => new Bundle(relation, () => arrowsOf(model, relation, placed, radius)));
    this.root.append(...this.bundles.map(one => one.root));
  }

  /** `look` for every relation by its number; `isPicked` when something is lit, so that the others step back. */
  mark(look: (relation: number) => ArrowLook, isPicked: boolean): void {
    const looks = this.bundles.map((_, number) => look(number));
    const seen = this.bundles.reduce((sum, bundle, number) => sum + (looks[number]!.isHidden ? 0 : bundle.count), 0);
    this.bundles.forEach((bundle, number) => bundle.mark(looks[number]!, isPicked || seen > CROWDED));
  }
}

/** The arrows of one relation, made when they are seen for the first time. */
class Bundle {
  readonly root = shape('g', { class: 'polyviz-hidden' });
  private made: readonly Arrow[] | null = null;
  private whole: SVGElement | null = null;
  private touching: SVGElement | null = null;

  constructor(
    private readonly relation: Relation,
    private readonly make: () => readonly Arrow[]
  ) {}

  get count(): number {
    return this.arrows.length;
  }

  mark({ isHidden, isLit, at }: ArrowLook, stepsBack: boolean): void {
    this.root.classList.toggle('polyviz-hidden', isHidden && at === null);
    this.touching?.remove();
    this.touching = null;
    if (at !== null) {
      const own = this.arrows.filter(one => one.source === at || one.sink === at);
      this.touching = this.drawn(own, 'polyviz-arrows polyviz-lit');
      this.root.append(this.touching);
    }
    if (!isHidden && this.whole === null && this.count > 0) {
      this.whole = this.drawn(this.arrows, '');
      this.root.prepend(this.whole);
    }
    if (this.whole !== null) {
      const look = isHidden ? 'polyviz-hidden' : isLit && at === null ? 'polyviz-lit' : stepsBack ? 'polyviz-dim' : '';
      setAttribute(this.whole, 'class', `polyviz-arrows ${look}`.trim());
    }
  }

  private get arrows(): readonly Arrow[] {
    this.made ??= this.make();
    return this.made;
  }

  private drawn(arrows: readonly Arrow[], name: string): SVGElement {
    const made = arrowShape(this.relation.kind, arrows);
    setAttribute(made, 'class', name);
    return made;
  }
}

/** An arrow for each pair whose ends are both drawn. */
function arrowsOf(model: Model, relation: Relation, placed: ReadonlyMap<string, PlacedMark>, radius: number): readonly Arrow[] {
  const statements = [statementNumber(model, relation.source), statementNumber(model, relation.sink)] as const;
  return relation.pairs.flatMap(([from = -1, to = -1]): readonly Arrow[] => {
    const [source, sink] = [instanceKey(statements[0], from), instanceKey(statements[1], to)];
    const [start, end] = [placed.get(source)?.position, placed.get(sink)?.position];
    return start === undefined || end === undefined || source === sink ? [] : [{ source, sink, ...arrowPaths(start, end, radius) }];
  });
}
