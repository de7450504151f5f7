/**
 * Charts on the static page of a result: one of them at a time becomes a live figure, the others stay pictures with a
 * button beside them.
 */

import { ChartPlace } from '../core/chart';
import { button, element } from '../core/dom';
import { rooflineFigure, timesFigure, tuningFigure, type Colours, type Figure } from '../core/figures';
import { timingsIn } from '../core/readTiming';
import { STYLE } from '../core/style';

type Drawer = (colours: Colours) => Figure | null;

/** A picture of the static page, and the figure of the same. */
interface Picture {
  readonly image: HTMLElement;
  readonly figure: Drawer;
  readonly press: HTMLButtonElement;
  /** The button in the look of the views, below the picture. */
  readonly offer: HTMLElement;
}

/** How the alternative texts of the charts begin. */
const TIMES = 'Bar chart of the time per call';
const ROOFLINE = 'Roofline of';
const TUNING = 'Tuning of';

/** Make the first chart of `page` live, and offer that for the others; `value` is the JSON of the same result. */
export function livePictures(page: HTMLElement, value: unknown): void {
  const pictures = picturesOf(page, value);
  const [first] = pictures;
  if (first !== undefined) {
    const live = new LivePictures();
    pictures.forEach(one => one.press.addEventListener('click', () => live.show(one)));
    live.show(first);
  }
}

class LivePictures {
  private readonly place = new ChartPlace();
  private readonly frame = element('div', { class: 'polyviz' });
  private shown: Picture | null = null;

  constructor() {
    const style = element('style');
    style.textContent = STYLE;
    this.frame.append(style, this.place.root);
  }

  show(picture: Picture): void {
    if (this.shown !== null) {
      this.shown.image.hidden = this.shown.offer.hidden = false;
    }
    this.shown = picture;
    picture.image.hidden = picture.offer.hidden = true;
    picture.image.before(this.frame);
    this.place.show(picture.figure, [], () => {
      picture.image.hidden = picture.offer.hidden = false;
      this.shown = null;
    });
  }
}

function picturesOf(page: HTMLElement, value: unknown): readonly Picture[] {
  const { comparisons, searches } = timingsIn(value);
  const roofs = comparisons.flatMap(one => {
    const { roofline } = one;
    return roofline === null ? [] : [(colours: Colours) => rooflineFigure(one, roofline, colours)];
  });
  return [
    ...paired(page, TIMES, comparisons.map(one => (colours: Colours) => timesFigure(one, colours))),
    ...paired(page, ROOFLINE, roofs),
    ...paired(page, TUNING, searches.map(one => (colours: Colours) => tuningFigure(one, colours)))
  ];
}

/** The pictures whose alternative text begins with `begin`, each with its figure, in order; empty figures are left out. */
function paired(page: HTMLElement, begin: string, figures: readonly Drawer[]): readonly Picture[] {
  const images = [...page.querySelectorAll<HTMLElement>('img')].filter(one => one.getAttribute('alt')?.startsWith(begin));
  return images.slice(0, figures.length).flatMap((image, place) => {
    const figure = figures[place]!;
    if (figure(UNSEEN) === null) {
      return [];
    }
    const press = button('Interactive chart', () => undefined);
    const offer = element('div', { class: 'polyviz' }, press);
    image.after(offer);
    return [{ image, figure, press, offer }];
  });
}

const UNSEEN: Colours = { ink: '', grid: '', bar: '', best: '', plain: '', mark: '' };
