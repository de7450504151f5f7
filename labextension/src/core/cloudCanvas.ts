/** Very many points: painted on a canvas below the picture, and found again by the place of the pointer. */

import type { Position } from './geometry';
import type { PlacedMark, Sheet } from './plot';

/** From here on a point is no element of its own: drawing and restyling them would take longer than a blink. */
export const MOST_SHAPES = 5000;
/** Sharp on screens with finer pixels. */
const SCALE = 2;
const BUCKET = 12;
/** So many lit points are large enough to be found; more of them are seen anyway. */
const FEW = 50;
/** More buckets than a row of them ever has. */
const ROW = 1 << 16;

/** How a point looks, from what steps back to what stands out: later ones are painted over those before. */
export const STYLES = ['dim', 'past', 'plain', 'lit', 'now', 'cursor'] as const;
export type Style = (typeof STYLES)[number];

type Paint = (mark: PlacedMark) => Style;

/** The opacity of what steps back. */
const OPACITY: Readonly<Partial<Record<Style, number>>> = { dim: 0.25, past: 0.4 };

export class CloudCanvas {
  readonly root = document.createElement('canvas');
  private readonly buckets = new Map<number, PlacedMark[]>();
  private look: Paint = () => 'plain';
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
    const { width, height } = this.root;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const found: Record<Style, PlacedMark[]> = { dim: [], past: [], plain: [], lit: [], now: [], cursor: [] };
    this.marks.forEach(mark => found[mark.key === this.cursor ? 'cursor' : this.look(mark)].push(mark));
    const colours: Record<Style, string> = { dim: ink, past: ink, plain: ink, lit, now, cursor };
    for (const style of STYLES) {
      const isFound = style === 'now' || style === 'cursor' || (style === 'lit' && found.lit.length <= FEW);
      const size = isFound ? Math.max(3, radius * 1.8) : radius;
      const pixel = pixelOf(colours[style], OPACITY[style] ?? 1);
      found[style].forEach(({ position }) => square(pixels, width, height, position, size, pixel));
    }
    context.putImageData(image, 0, 0);
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

/** A bucket for each few pixels, numbered row by row. */
function bucketOf(x: number, y: number): number {
  return Math.floor(y / BUCKET) * ROW + Math.floor(x / BUCKET);
}

/** Written as pixels: a hundred thousand calls to fill a rectangle take a canvas half a second. */
function square(pixels: Uint32Array, width: number, height: number, at: Position, radius: number, pixel: number): void {
  const side = Math.max(1, Math.round(2 * radius * SCALE));
  const left = Math.max(0, Math.round((at.x - radius) * SCALE));
  const top = Math.max(0, Math.round((at.y - radius) * SCALE));
  const right = Math.min(width, left + side);
  const bottom = Math.min(height, top + side);
  for (let y = top; y < bottom; y += 1) {
    pixels.fill(pixel, y * width + left, y * width + right);
  }
}

/** A colour of the style sheet as the four bytes of a pixel, in the order in which this machine keeps them. */
function pixelOf(colour: string, opacity: number): number {
  const context = document.createElement('canvas').getContext('2d');
  const bytes = new Uint8ClampedArray(4);
  if (context !== null) {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    bytes.set(context.getImageData(0, 0, 1, 1).data);
  }
  bytes[3] = Math.round(bytes[3]! * opacity);
  return new Uint32Array(bytes.buffer)[0]!;
}
