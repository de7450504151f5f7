// How long a person waits for the linked views in a real JupyterLab: node speed.mjs URL CHROMIUM NOTEBOOK NAME…
// The notebook begins with imports; then there are two cells for each name: the analysis, and one that shows its result.
// Prints a line of JSON for each name.
import { open, execute, kernelIsIdle, openFile } from './browser.mjs';

const [url, chromium, notebook, ...names] = process.argv.slice(2);
const { browser, page } = await open(chromium);
const REPEATS = 5;

// Milliseconds from an action in the page until the frame after it is painted, the middle one of several.
async function repaint(act) {
  const times = await page.evaluate(
    async ([text, repeats]) => {
      const root = document.querySelector('.jp-NotebookPanel .polyviz');
      const act = new Function('root', 'turn', text);
      const painted = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const times = [];
      for (let turn = 0; turn < repeats; turn += 1) {
        const started = performance.now();
        act(root, turn);
        await painted();
        times.push(performance.now() - started);
      }
      return times;
    },
    [act, REPEATS]
  );
  return Math.round(times.sort((one, other) => one - other)[Math.floor(REPEATS / 2)]);
}

const now = () => page.evaluate(() => performance.now());
const nothing = () => Promise.resolve();

// Milliseconds from now, or from when it `began`, until `condition` holds in the page and is painted.
async function until(condition, start, began = null) {
  const started = began ?? (await now());
  await start();
  const ended = await page.evaluate(async text => {
    const holds = new Function(`return ${text}`);
    while (!holds()) {
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return performance.now();
  }, condition);
  return Math.round(ended - started);
}

const OPTIONS = {
  'another schedule': "root.querySelectorAll('input[aria-label^=\"Schedule \"]')[turn % 2].click()",
  'scheduled space': "root.querySelectorAll('[aria-label=Domain] input[type=radio]')[(turn + 1) % 2].click()",
  'a step of the execution': "root.querySelector('[aria-label=\"One step forward\"]').click()",
  'another cache': "const s = root.querySelector('[aria-label=\"Cache line\"]'); s.selectedIndex = turn % 4; s.dispatchEvent(new Event('change'))",
  'a kind of dependence': "root.querySelector('[aria-label=Dependences] input[type=checkbox]')?.click()",
  'an iteration picked': "root.querySelectorAll('.polyviz-line')[turn % 3].click()"
};
const LISTED = "document.querySelector('.jp-NotebookPanel .polyviz-menu')";
const IDLE = "document.querySelector('.jp-NotebookPanel .polyviz-busy')?.textContent === ''";

await openFile(page, url, notebook);
await kernelIsIdle(page);
await page.evaluate(() => (window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0));
await execute(page, 'notebook:run-cell-and-select-next');

for (const name of names) {
  await execute(page, 'notebook:run-cell-and-select-next');
  await kernelIsIdle(page);
  const first = await until("document.querySelector('.jp-NotebookPanel .polyviz button[aria-label^=\"Moves at\"]')", () => execute(page, 'notebook:run-cell'));
  const repaints = {};
  for (const [option, act] of Object.entries(OPTIONS)) {
    repaints[option] = await repaint(act);
  }
  const schedule = await until("document.querySelector('.jp-NotebookPanel input[aria-label=\"Schedule isl\"]')?.checked", () =>
    page.evaluate(() => {
      const select = document.querySelector('.jp-NotebookPanel select[aria-label="Scheduler to add"]');
      select.value = 'isl';
      document.querySelector('.jp-NotebookPanel button[aria-label^="Add the schedule"]').click();
    })
  );
  const open = () => page.evaluate(() => document.querySelector('.jp-NotebookPanel button[aria-label^="Moves at"]').click());
  const began = await now();
  const menu = await until("document.querySelector('.jp-NotebookPanel .polyviz-menu')", open, began);
  const moves = await until(`${LISTED} && !${LISTED}.textContent.includes('Looking for moves')`, nothing, began);
  const effects = await until(`!${LISTED}.textContent.includes('Working out') && ${IDLE}`, nothing, began);
  const legal = await page.locator('.jp-NotebookPanel .polyviz-move:not(.polyviz-illegal)').count();
  const move =
    legal === 0
      ? null
      : await until(`document.querySelector('.jp-NotebookPanel input[aria-label="Schedule by hand"]')?.checked && ${IDLE}`, () =>
          page.evaluate(() => document.querySelector('.jp-NotebookPanel .polyviz-move:not(.polyviz-illegal)').click())
        );
  await execute(page, 'notebook:clear-cell-output');
  await execute(page, 'notebook:move-cursor-down');
  console.log(JSON.stringify({ name, first, repaints, schedule, menu, moves, effects, move }));
}
await browser.close();
