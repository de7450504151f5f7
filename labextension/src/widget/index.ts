/** The live host: an anywidget whose model holds the JSON, and whose messages are questions to the kernel. */

import { Inspector } from '../core/inspector';
import { betweenPresses } from '../core/press';
import { fieldsOf, pageOf, textOf } from '../core/values';

/** What anywidget hands to `render`; only what is used here. */
interface WidgetModel {
  get(name: string): unknown;
  on(event: string, act: (message: unknown) => void): void;
  off(event: string, act: (message: unknown) => void): void;
  send(message: unknown): void;
}

interface Context {
  readonly model: WidgetModel;
  readonly el: HTMLElement;
}

/** How long a kernel that is alive may take for one step, in milliseconds. */
const PATIENCE = 60_000;
const SILENT = 'The kernel does not answer: it is busy with another cell, or gone. Run this cell again to reconnect.';

function render({ model, el }: Context): () => void {
  let patience: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    clearTimeout(patience);
    patience = setTimeout(() => inspector.answered(SILENT), PATIENCE);
  };
  const names = model.get('schedulers');
  const inspector = new Inspector(model.get('model'), {
    host: {
      ask: question => {
        model.send(question);
        wait();
      }
    },
    schedulers: Array.isArray(names) ? names.map(textOf) : [],
    canRun: model.get('can_run') === true
  });
  const afterwards = betweenPresses(inspector.root);
  // Which schedule to show comes with the model: one drawing, not two.
  const redraw = (): void => afterwards(() => inspector.show(model.get('model'), textOf(model.get('shown'))));
  const hear = (message: unknown): void => afterwards(() => take(message));
  const take = (message: unknown): void => {
    const answer = fieldsOf(message);
    const kind = answer['answer'];
    if (kind === 'page') {
      inspector.keepPage(pageOf(answer['html']), textOf(answer['text']), answer['model']);
      return;
    }
    clearTimeout(patience);
    if (kind === 'progress' || kind === 'choice') {
      if (kind === 'progress') {
        inspector.report(textOf(answer['doing']));
      } else {
        inspector.offer(Number(answer['number']), [answer['choice']], false);
      }
      wait();
      return;
    }
    if (kind === 'choices') {
      inspector.offer(Number(answer['number']), [], true);
    }
    // Where the model is the same as before, only this tells what to show.
    inspector.choose(textOf(answer['show']));
    inspector.answered(textOf(answer['problem']), textOf(answer['said']));
  };
  model.on('change:model', redraw);
  model.on('msg:custom', hear);
  el.append(inspector.root);
  return () => {
    model.off('change:model', redraw);
    model.off('msg:custom', hear);
    clearTimeout(patience);
    // The widget outlives its views, and keeps the element of the last one.
    inspector.root.remove();
  };
}

export default { render };
