/** A picture as a file of its own: colours of the theme are written into a copy, since a file has no theme. */

import { button, element, shape } from './dom';

const PROPERTIES = [
  ...['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'paint-order', 'opacity', 'display'],
  ...['font-family', 'font-size', 'font-style', 'font-weight', 'text-anchor']
];

/** Buttons that save the picture which `find` gives. */
export function saveButtons(name: () => string, find: () => SVGSVGElement | null): HTMLElement {
  const save = (act: (picture: SVGSVGElement) => void) => (): void => {
    const picture = find();
    if (picture !== null) {
      act(picture);
    }
  };
  return element(
    'span',
    { class: 'polyviz-saves' },
    button('Save SVG', save(picture => download(`${name()}.svg`, textOf(picture), 'image/svg+xml')), { class: 'polyviz-small' }),
    button('Save PNG', save(picture => savePng(name(), picture)), { class: 'polyviz-small' })
  );
}

/** The picture as SVG text that looks the same without the page around it. */
export function textOf(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const originals = [picture, ...picture.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((target, place) => {
    const style = window.getComputedStyle(originals[place]!);
    PROPERTIES.forEach(property => {
      const value = style.getPropertyValue(property);
      if (value !== '') {
        target.setAttribute(property, value);
      }
    });
    target.removeAttribute('class');
  });
  ['role', 'tabindex', 'aria-label', 'data-lm-suppress-shortcuts'].forEach(name => copy.removeAttribute(name));
  const painted = picture.parentElement?.querySelector<HTMLCanvasElement>(':scope > canvas');
  if (painted) {
    const { width, height } = picture.viewBox.baseVal;
    copy.prepend(shape('image', { href: painted.toDataURL('image/png'), width, height }));
  }
  copy.setAttribute('style', `background: ${window.getComputedStyle(picture.closest('.polyviz') ?? picture).backgroundColor}`);
  return new XMLSerializer().serializeToString(copy);
}

function savePng(name: string, picture: SVGSVGElement): void {
  const scale = 2;
  const { width, height } = picture.viewBox.baseVal;
  const image = new Image();
  image.addEventListener('load', () => {
    const canvas = document.createElement('canvas');
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext('2d');
    if (context !== null) {
      context.fillStyle = window.getComputedStyle(picture.closest('.polyviz') ?? picture).backgroundColor;
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      follow(`${name}.png`, canvas.toDataURL('image/png'));
    }
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(picture))}`;
}

function download(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  follow(name, address);
  window.setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function follow(name: string, address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
