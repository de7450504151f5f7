/** How the threads of the step that is shown meet memory: a line per access, and the banks of shared memory. */

import { BANKS, meetings, stepText, type Meeting } from './deviceSteps';
import { element, scrolling, shape } from './dom';
import type { State } from './state';

export function deviceTimeView(state: State): HTMLElement {
  const root = element('div', { class: 'polyviz-device-step', role: 'group', 'aria-label': 'Threads and memory at this step' });
  const draw = (): void => {
    root.hidden = !state.onDevice;
    root.replaceChildren(...(state.onDevice ? content(state) : []));
  };
  state.on(['model', 'variant', 'moment'], draw);
  draw();
  return root;
}

function content(state: State): readonly HTMLElement[] {
  const device = state.variant?.device ?? null;
  const moment = state.moments[state.position];
  if (device === null || moment === undefined) {
    return [element('p', { class: 'polyviz-muted' }, 'Step through the order to see which threads run, and what they touch.')];
  }
  const threads = Math.max(...state.model.statements.map((_, number) => moment.filter(([statement]) => statement === number).length));
  const rows = meetings(state.model, device, state.position, moment).map(row);
  const head = element('tr', {}, ...['access', '', 'memory', 'threads', 'transactions', 'banks'].map(name => element('th', { scope: 'col' }, name || 'kind')));
  return [
    element('p', {}, `${stepText(device, state.position, threads)}.`),
    scrolling('How the threads of this step meet memory', element('table', { class: 'polyviz-table' }, element('thead', {}, head), element('tbody', {}, ...rows))),
    element('p', { class: 'polyviz-muted' }, 'In the order of the schedule, one block after the other; a transaction is a segment of 128 bytes. A kernel that stages tiles fills them with copies of their own, which the counts of the emulator include.')
  ];
}

function row(one: Meeting): HTMLElement {
  const transactions = one.memory === 'global' ? String(one.segments.length) : '–';
  const cells = [element('code', { class: 'polyviz-whole' }, one.text), one.mode, one.memory, String(one.threads), transactions, one.banks === null ? pieces(one) : banks(one.banks)];
  return element('tr', {}, ...cells.map(cell => element('td', {}, cell)));
}

/** Cells that come in pieces stand elsewhere in the tile than in the array, and one piece serves several steps. */
function pieces(one: Meeting): string {
  return one.together > 1 ? `${one.together} cells of a thread at once` : '';
}

const CELL = 5;

/** The banks as a strip: the more words a bank has to give one after the other, the higher its bar. */
function banks(counts: readonly number[]): HTMLElement {
  const most = Math.max(...counts);
  const touched = counts.filter(count => count > 0).length;
  const told = `${touched} of ${BANKS} banks, ${most > 1 ? `${most - 1} ${most === 2 ? 'round' : 'rounds'} lost to conflicts` : 'no conflict'}`;
  const bars = counts.map((count, bank) => {
    const height = most === 0 ? 0 : (14 * count) / most;
    return shape('rect', { x: bank * CELL, y: 15 - height, width: CELL - 1, height, class: count > 1 ? 'polyviz-bank polyviz-conflict' : 'polyviz-bank' });
  });
  const floor = shape('path', { d: `M0 15.5H${BANKS * CELL}`, class: 'polyviz-zoom' });
  return element('span', { class: 'polyviz-banks' }, shape('svg', { width: BANKS * CELL, height: 17, role: 'img', 'aria-label': told }, ...bars, floor), ` ${told}`);
}
