/**
 * The MIME renderer. It draws the views from the JSON of the output at once, so that they are there without a kernel, in
 * an untrusted notebook, a year later. Where the output also names a live widget, that is rendered out of sight and takes
 * the place of the drawing only when it turns out to be alive.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { JSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import { carryOver } from '../core/carryOver';
import { button, element } from '../core/dom';
import { Inspector, PAGE, REPLAY, SHOWN } from '../core/inspector';
import type { Moves } from '../core/moves';
import { valueOf } from '../core/read';
import { fieldsOf, textOf } from '../core/values';
import { livePictures } from './livePictures';
import { Plotly, type Turn } from './plotly';

export const MIME = 'application/vnd.polyviz.v1+json';
const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';
const HTML = 'text/html';
const TEXT = 'text/plain';
/** When to look whether the widget has come to life: its manager restores it late after a reload, once the kernel has time. */
const ATTEMPTS = [0, 700, 2000, 5000, 10_000, 20_000, 40_000, 80_000];
/** How long a new output waits for its widget before it draws itself: to draw the same views twice takes twice as long. */
const GRACE = 1000;
/** What the live view shows is kept when the page has nothing better to do, at the latest after this time. */
const KEPT_AFTER = 1000;
/** How long one attempt may take, and then its drawing. */
const ANSWER = 1500;
const DRAWN_WITHIN = 1000;
/** After this time a person is told that the views are saved ones, while the widget may still come. */
const PATIENCE = 7000;
const SAVED = 'Saved views: everything but moves and timing works without the kernel.';
const CONNECTING = 'Connecting to the kernel …';
const GONE = 'The kernel is gone; this is the last state.';
const RECONNECT =
  'Takes up the live view where the kernel still has it. Else runs this cell again, and in a new kernel the cells above it first.';

/** Makes the renderers of other types in the same document; absent where there is no notebook. */
export type Others = Pick<IRenderMime.IRenderer, never> & {
  createRenderer(mimeType: string): IRenderMime.IRenderer;
  readonly mimeTypes: readonly string[];
};

/** The notebook around an output: it can run the cell again, and remembers which widgets died with their kernel. */
export interface Home {
  readonly turn: Turn;
  readonly gone: Set<string>;
  /** Whether its kernel runs a cell now: an output that comes then is new, and its widget is there already. */
  isRunning(): boolean;
  again(node: HTMLElement): Promise<void>;
  /** Moves made before the kernel ended on the loops with this `text`, which the output around `node` shows; given once. */
  moves(node: HTMLElement, text: string): Moves | null;
}

export class PolyvizRenderer extends Widget implements IRenderMime.IRenderer {
  private readonly place = document.createElement('div');
  private drawn = '';
  private model: IRenderMime.IMimeModel | null = null;
  /** The forms of the output; the model of a notebook copies all of them whenever it is asked. */
  private data: ReadonlyPartialJSONObject = {};
  /** What live views have changed of them and is not in the notebook yet. */
  private changed: Readonly<Record<string, JSONObject | string>> = {};
  /** Views that are drawn when the widget does not come. */
  private awaiting: unknown = null;
  private timers: number[] = [];
  private live: IRenderMime.IRenderer | null = null;
  private page: Widget | null = null;
  /** A widget out of sight that may come to life. */
  private attempt: IRenderMime.IRenderer | null = null;
  private readonly plotly: Plotly;

  constructor(
    private readonly others: Others | null,
    private readonly sanitizer: IRenderMime.ISanitizer | null = null,
    private readonly home: Home | null = null
  ) {
    super();
    this.addClass('polyviz-output');
    this.layout = new PanelLayout();
    this.node.append(this.place);
    this.plotly = new Plotly(this.node, others, home?.turn ?? { holder: null });
    this.node.addEventListener(SHOWN, event => this.keep({ [MIME]: (event as CustomEvent<JSONObject>).detail }));
    this.node.addEventListener(PAGE, event => {
      const { html, text } = (event as CustomEvent<{ html: string; text: string }>).detail;
      this.keep({ [HTML]: html, [TEXT]: text });
    });
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const { data } = model;
    const value = valueOf(data[MIME]);
    const content = contentOf(data);
    if (content === this.drawn) {
      return;
    }
    this.drawn = content;
    this.model = model;
    this.data = data;
    this.stop();
    if (fieldsOf(value)['kind'] !== 'inspector' && typeof data[HTML] === 'string') {
      await this.showStatic(data[HTML], model);
      return;
    }
    if (this.mayLive() && this.home?.isRunning()) {
      this.awaiting = value;
    } else {
      this.drawSaved(value);
    }
    this.lookForLife();
  }

  /** Whether there may be a live widget for this output. */
  private mayLive(): boolean {
    const isNamed = this.data[WIDGET_VIEW] !== undefined && (this.others?.mimeTypes.includes(WIDGET_VIEW) ?? false);
    return isNamed && (this.model?.trusted ?? false) && !this.home?.gone.has(this.widgetId);
  }

  /** A cell that was out of sight has its place in the page now. */
  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.lookForLife();
  }

  /** What is attached to a node has to go before the node does. */
  protected override onBeforeDetach(message: Message): void {
    this.attempt?.dispose();
    this.attempt = null;
    super.onBeforeDetach(message);
  }

  /** Wait a while for the live widget, where there may be one; out of sight nothing could be drawn yet. */
  private lookForLife(): void {
    const { model } = this;
    if (model === null || !model.trusted || this.data[WIDGET_VIEW] === undefined || this.live !== null) {
      return;
    }
    if (this.home?.gone.has(this.widgetId)) {
      this.offerAgain(GONE);
      return;
    }
    if (!this.isAttached) {
      return;
    }
    this.stop();
    this.timers = ATTEMPTS.map(delay => window.setTimeout(() => void this.revive(model), delay));
    this.timers.push(window.setTimeout(() => this.tellConnecting(), GRACE));
    this.timers.push(window.setTimeout(() => this.drawAwaiting(), GRACE), window.setTimeout(() => this.offerAgain(SAVED), PATIENCE));
  }

  /** The kernel is gone: put the last state in the place of the live view, and offer to run the cell again. */
  fallBack(): void {
    const { model } = this;
    if (model === null || this.widgetId === '') {
      return;
    }
    this.stop();
    this.writeKept();
    this.home?.gone.add(this.widgetId);
    // A kernel that restarts goes in several steps, and each of them ends up here.
    const before = this.live?.node ?? this.place.firstElementChild;
    this.drawSaved(this.data[MIME]);
    if (before !== null) {
      carryOver(before, this.place);
    }
    this.live?.dispose();
    this.live = null;
    this.offerAgain(GONE);
  }

  private drawSaved(value: unknown): void {
    this.awaiting = null;
    this.place.replaceChildren(new Inspector(value).root);
  }

  /** The widget has not come: draw what would be drawn without it. */
  private drawAwaiting(): void {
    if (this.awaiting !== null && this.live === null) {
      this.drawSaved(this.awaiting);
    }
  }

  /** While a kernel may still answer, nobody should wonder where moves and timing are. */
  private tellConnecting(): void {
    if (this.live === null && this.mayLive()) {
      const told = element('p', { class: 'polyviz-connecting polyviz-muted', role: 'status' }, CONNECTING);
      this.place.querySelector('.polyviz')?.prepend(told);
    }
  }

  /** A bar above the drawing: what it is, and how it comes to life again. */
  private offerAgain(what: string): void {
    const { model, home, place } = this;
    if (model === null || home === null || this.live !== null || place.querySelector('.polyviz-reconnect') !== null) {
      return;
    }
    place.querySelector('.polyviz-connecting')?.remove();
    const reconnect = async (): Promise<void> => {
      bar.remove();
      if (!home.gone.has(this.widgetId)) {
        await this.revive(model);
      }
      if (this.live === null) {
        await home.again(this.node);
      }
      if (!this.isDisposed && this.model === model) {
        // A cell above failed, and this one has not run.
        this.offerAgain(what);
      }
    };
    const press = button('Reconnect', () => void reconnect(), { title: RECONNECT });
    const bar = element('div', { class: 'polyviz-reconnect polyviz-row', role: 'status' }, element('span', {}, what), press);
    place.querySelector('.polyviz')?.prepend(bar);
  }

  override dispose(): void {
    this.stop();
    this.plotly.clear();
    super.dispose();
  }

  /** Put what the live view shows now into the output, so that the saved notebook holds the last state. */
  private keep(changed: Readonly<Record<string, JSONObject | string>>): void {
    const isWaiting = Object.keys(this.changed).length > 0;
    this.changed = { ...this.changed, ...changed };
    this.data = { ...this.data, ...changed };
    if (!isWaiting) {
      // The notebook copies and measures all of the output then: nobody should wait for that before the picture.
      whenIdle(() => this.writeKept());
    }
  }

  private writeKept(): void {
    if (this.model !== null && !this.isDisposed && Object.keys(this.changed).length > 0) {
      this.changed = {};
      this.drawn = contentOf(this.data);
      this.model.setData({ data: this.data });
    }
  }

  /** The id of the live widget that the output names. */
  private get widgetId(): string {
    return textOf(fieldsOf(this.data[WIDGET_VIEW])['model_id']);
  }

  private makeMovesAgain(live: HTMLElement): void {
    const moves = this.home?.moves(this.node, textOf(fieldsOf(this.data[MIME])['text'])) ?? null;
    if (moves !== null) {
      live.querySelector('.polyviz')?.dispatchEvent(new CustomEvent(REPLAY, { detail: moves }));
    }
  }

  private stop(): void {
    this.timers.forEach(timer => window.clearTimeout(timer));
    this.timers = [];
  }

  /** Kinds without linked views are shown as they would be without this renderer: as their static page. */
  private async showStatic(html: string, model: IRenderMime.IMimeModel): Promise<void> {
    this.place.replaceChildren();
    this.page?.dispose();
    if (this.others !== null) {
      const renderer = this.others.createRenderer(HTML);
      this.page = renderer;
      await renderer.renderModel(model);
      if (!this.isDisposed && !renderer.isDisposed) {
        // The layout also takes it while the cell is out of sight, and tells it when it comes into view.
        (this.layout as PanelLayout).addWidget(renderer);
        if (this.plotly.isThere) {
          livePictures(renderer.node, model.data[MIME]);
        }
      }
    } else if (this.sanitizer !== null) {
      const page = new DOMParser().parseFromString(this.sanitizer.sanitize(html), 'text/html');
      this.addClass('jp-RenderedHTMLCommon');
      this.place.append(...page.body.childNodes);
    }
  }

  /** Swap the live widget in when it draws itself; when there is none, what is drawn stays. */
  private async revive(model: IRenderMime.IMimeModel): Promise<void> {
    if (this.attempt !== null || this.live !== null || this.isDisposed || !this.isAttached || !this.others?.mimeTypes.includes(WIDGET_VIEW)) {
      return;
    }
    const live = this.others.createRenderer(WIDGET_VIEW);
    this.attempt = live;
    live.node.style.display = 'none';
    Widget.attach(live, this.node);
    // While the widgets of a kernel are being restored the answer may never come; then a later attempt has to be free.
    await Promise.race([live.renderModel(model).catch(() => undefined), pause(ANSWER)]);
    const isAlive = await appears(live.node);
    if (this.attempt !== live) {
      return;
    }
    this.attempt = null;
    if (isAlive && this.model === model && !this.home?.gone.has(this.widgetId)) {
      this.stop();
      this.awaiting = null;
      this.live = live;
      // Held by the layout from now on: it goes with the output, and its view lets go of what it has drawn.
      Widget.detach(live);
      (this.layout as PanelLayout).addWidget(live);
      carryOver(this.place, live.node);
      this.place.replaceChildren();
      live.node.style.display = '';
      this.makeMovesAgain(live.node);
    } else {
      live.dispose();
      this.drawAwaiting();
    }
  }
}

/** What decides whether an output has to be drawn again; the text of a document can be long, and is taken as it is. */
function contentOf(data: ReadonlyPartialJSONObject): string {
  const value = data[MIME] ?? null;
  const view = JSON.stringify(data[WIDGET_VIEW] ?? null);
  return typeof value === 'string' ? view + value : JSON.stringify([value, view]);
}

/** What ipywidgets puts on a view whose kernel no longer answers: the page still has the widget, and could draw it. */
const DISCONNECTED = '.jupyter-widgets-disconnected';

/** Whether the widget has drawn the views within a second; a dead one leaves an error message, or a view of nobody. */
async function appears(node: HTMLElement): Promise<boolean> {
  const isThere = (): boolean => node.querySelector('.polyviz') !== null;
  if (!isThere()) {
    const drawn = new Promise<void>(resolve => {
      const observer = new MutationObserver(() => isThere() && resolve());
      observer.observe(node, { childList: true, subtree: true });
      window.setTimeout(() => {
        observer.disconnect();
        resolve();
      }, DRAWN_WITHIN);
    });
    await drawn;
  }
  return isThere() && node.querySelector(DISCONNECTED) === null;
}

/** Call `act` when the page has drawn and nothing is left to do, or soon at the latest. */
function whenIdle(act: () => void): void {
  if (typeof window.requestIdleCallback === 'function') {
    window.requestIdleCallback(act, { timeout: KEPT_AFTER });
  } else {
    window.setTimeout(act, KEPT_AFTER);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise(resolve => window.setTimeout(resolve, milliseconds));
}
