import { afterEach, expect, test, vi } from 'vitest';

import widget from '../../src/widget/index';
import { sample } from './sample';

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

/** The live views on a kernel that answers as the test tells it to. */
function live() {
  const asked: unknown[] = [];
  const acts = new Map<string, (message: unknown) => void>();
  const values: Record<string, unknown> = { model: sample(), schedulers: ['isl'], can_run: true, shown: '' };
  const model = {
    get: (name: string) => values[name],
    on: (event: string, act: (message: unknown) => void) => acts.set(event, act),
    off: (event: string) => acts.delete(event),
    send: (message: unknown) => asked.push(message)
  };
  const el = document.createElement('div');
  document.body.append(el);
  const end = widget.render({ model, el });
  return { asked, end, el, hear: (message: unknown) => acts.get('msg:custom')!(message), redraw: () => acts.get('change:model')!(undefined) };
}

test('a button keeps its place while it is pressed, and what came in between is drawn afterwards, in its order', () => {
  vi.useFakeTimers();
  const { asked, end, el, hear, redraw } = live();
  const moves = (): HTMLElement => el.querySelector<HTMLElement>('button[aria-label^="Moves at"]')!;
  const status = (): string => el.querySelector('.polyviz-busy')!.textContent ?? '';
  const isPressed = vi.spyOn(el.querySelector('.polyviz')!, 'matches').mockReturnValue(true);
  const pressed = moves();
  redraw();
  hear({ answer: 'progress', doing: 'counting' });
  hear({ answer: 'progress', doing: 'timing' });
  vi.advanceTimersByTime(500);
  expect(moves()).toBe(pressed);
  expect(status()).not.toContain('ing');
  pressed.click();
  expect(asked).toMatchObject([{ ask: 'choices' }]);
  isPressed.mockReturnValue(false);
  vi.advanceTimersByTime(20);
  expect(isPressed).toHaveBeenCalledWith(':active');
  expect(status()).toContain('timing');
  expect(moves()).not.toBe(pressed);
  end();
});

test('what comes while nothing is pressed is drawn at once', () => {
  const { end, el, hear } = live();
  hear({ answer: 'progress', doing: 'counting' });
  expect(el.querySelector('.polyviz-busy')!.textContent).toContain('counting');
  end();
});
