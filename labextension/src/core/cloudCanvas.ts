/** Very many points: painted on a canvas below the picture, and found again by the place of the pointer. */

import type { PlacedMark, Sheet } from './plot';

/** From here on a point is no element of its own: drawing and restyling them would take longer than a blink. */
export const MOST_SHAPES = 5000;
/** Sharp on screens with finer pixels. */
const SCALE = 2;
const BUCKET = 12;

export interface Look {
  readonly isNow: boolean;
  readonly isPast: boolean;
  readonly isLit: boolean;
  readonly isDim: boolean;
}

type Paint = (mark: PlacedMark) => Look;

export class CloudCanvas {
  readonly root = document.createElement('canvas');
  private readonly buckets = new Map<string, PlacedMark[]>();
  private look: Paint = () => ({ isNow: false, isPast: false, isLit: false, isDim: false });
  private cursor: string | null = null;
  private isWaiting = false;

  constructor(
    private readonly marks: readonly PlacedMark[],
    private readonly sheet: Sheet
  ) {
    this.root.className = 'polyviz-cloud';
    this.root.width = Math.ceil(sheet.width * SCALE);
    this.root.height = Math.ceil(sheet.height * SCALE);
    this.root.setAttribute('aria-hidden', 'true');
    for (const mark of marks) {
      const key = bucketOf(mark.position.x, mark.position.y);
      const bucket = this.buckets.get(key) ?? [];
      bucket.push(mark);
      this.buckets.set(key, bucket);
    }
    this.followTheme();
  }

  /** Paint with the next frame; what is asked for in between replaces it. */
  paint(look: Paint): void {
    this.look = look;
    if (!this.isWaiting) {
      this.isWaiting = true;
      window.requestAnimationFrame(() => this.paintNow());
    }
  }

  setCursor(key: string | null): void {
    this.cursor = key;
    this.paint(this.look);
  }

  /** The point under the pointer, or the nearest one beside it. */
  keyAt(event: MouseEvent): string | null {
    const box = this.root.getBoundingClientRect();
    const x = ((event.clientX - box.left) / Math.max(1, box.width)) * this.sheet.width;
    const y = ((event.clientY - box.top) / Math.max(1, box.height)) * this.sheet.height;
    let best: string | null = null;
    let shortest = BUCKET;
    for (const dx of [-BUCKET, 0, BUCKET]) {
      for (const dy of [-BUCKET, 0, BUCKET]) {
        for (const mark of this.buckets.get(bucketOf(x + dx, y + dy)) ?? []) {
          const distance = Math.hypot(mark.position.x - x, mark.position.y - y);
          if (distance < shortest) {
            shortest = distance;
            best = mark.key;
          }
        }
      }
    }
    return best;
  }

  private paintNow(): void {
    this.isWaiting = false;
    const context = this.root.getContext('2d');
    if (context === null || !this.root.isConnected) {
      return;
    }
    const style = window.getComputedStyle(this.root);
    const colour = (name: string): string => style.getPropertyValue(`--pv-${name}`).trim();
    const [ink, now, lit, cursor] = [colour('ink'), colour('now'), colour('lit-edge'), colour('flow')];
    const radius = Math.max(0.6, Math.min(this.sheet.radius, this.spacing() * 0.42));
    context.setTransform(SCALE, 0, 0, SCALE, 0, 0);
    context.clearRect(0, 0, this.sheet.width, this.sheet.height);
    // Marks of one look together: changing colours is what takes time.
    const groups: Record<Style, PlacedMark[]> = { plain: [], past: [], dim: [], lit: [], now: [], cursor: [] };
    this.marks.forEach(mark => groups[mark.key === this.cursor ? 'cursor' : styleOf(this.look(mark))].push(mark));
    const colours: Record<Style, string> = { plain: ink, past: ink, dim: ink, lit, now, cursor };
    for (const [name, marks] of Object.entries(groups) as [Style, PlacedMark[]][]) {
      context.globalAlpha = name === 'dim' ? 0.25 : name === 'past' ? 0.4 : 1;
      context.fillStyle = colours[name];
      const size = name === 'now' || name === 'cursor' ? Math.max(3, radius * 1.8) : radius;
      marks.forEach(({ position }) => context.fillRect(position.x - size, position.y - size, 2 * size, 2 * size));
    }
  }

  /** About how far neighbouring points are apart. */
  private spacing(): number {
    return Math.sqrt((this.sheet.width * this.sheet.height) / Math.max(1, this.marks.length));
  }

  private followTheme(): void {
    const observer = new MutationObserver(() => {
      if (this.root.isConnected) {
        this.paint(this.look);
      } else {
        observer.disconnect();
      }
    });
    observer.observe(document.body, { attributes: true, attributeFilter: ['data-jp-theme-light', 'class'] });
  }
}

type Style = 'plain' | 'past' | 'dim' | 'lit' | 'now' | 'cursor';

function styleOf(look: Look): Style {
  if (look.isNow) {
    return 'now';
  }
  return look.isLit ? 'lit' : look.isDim ? 'dim' : look.isPast ? 'past' : 'plain';
}

function bucketOf(x: number, y: number): string {
  return `${Math.floor(x / BUCKET)} ${Math.floor(y / BUCKET)}`;
}
