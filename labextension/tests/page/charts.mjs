// Charts by plotly's own renderer, and the kernels of a device: node charts.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, view, scenario, picture, problem, settled, eventually, counts, says, serious, finish } = await stage();
const plots = page.locator('.jp-NotebookPanel .js-plotly-plot');
const timing = view.locator('details:has(> summary:text-is("Timing"))');

async function drawn(count) {
  await page.waitForFunction(
    wanted => [...document.querySelectorAll('.jp-NotebookPanel .js-plotly-plot')].filter(one => one.querySelector('.plot-container')).length === wanted,
    count
  );
}

// What plotly says of the last mark, once it does: the chart may be drawn again below the pointer, and say nothing then.
async function plotlyTells(pattern) {
  await eventually(async () => {
    const mark = plots.first().locator('.bars .point path, .scatterlayer .points path').last();
    const box = await mark.boundingBox();
    await page.mouse.move(box.x + box.width / 2 - 3, box.y + box.height / 2 - 1);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
    const text = plots.first().locator('.hoverlayer .hovertext').first();
    await text.waitFor({ timeout: 2000 });
    assert.match(await text.textContent(), pattern);
  });
}

await scenario('times are charts in the live view', async () => {
  await openFile(page, url, 'three.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  assert.equal(await plots.count(), 0);
  await timing.locator('> summary').click();
  await timing.locator('button:has-text("Verify and time")').click();
  await drawn(1);
  await settled();
  assert.equal(await problem(), '');
  await plots.locator('.errorbar').nth(2).waitFor({ state: 'attached' });
  await timing.scrollIntoViewIfNeeded();
  await plotlyTells(/95 %.*times as fast as the baseline/);
  await picture('chart-times');
});

await scenario('ratios take the place of the times', async () => {
  await timing.locator('input[aria-label="Chart of ratios"]').focus();
  await page.keyboard.press('Space');
  await page.waitForFunction(() => document.querySelector('.jp-NotebookPanel .js-plotly-plot .scatterlayer .point'));
  await counts(plots, 1);
  await timing.locator('.polyviz-plotly[aria-label^="Ratios: "]').waitFor();
  await picture('chart-ratios');
});

await scenario('the roofline asks for a measurement once', async () => {
  await timing.locator('input[aria-label="Chart of roofline"]').check();
  await timing.locator('button:has-text("Measure this machine")').click();
  await page.waitForFunction(() => document.querySelectorAll('.jp-NotebookPanel .js-plotly-plot .scatterlayer .trace').length === 3);
  await settled();
  assert.equal(await problem(), '');
  await counts(plots, 1);
  await timing.locator('.polyviz-plotly[aria-label*="operations per byte, limited by"]').waitFor();
  await says(timing.locator('thead'), /of the limit/);
  await picture('chart-roofline');
  assert.deepEqual(await serious('.polyviz'), []);
});

await scenario('the table says the same to the keyboard', async () => {
  const table = timing.locator('[aria-label="Table of the times"]');
  await table.focus();
  await says(table, /✓ agrees/);
});

await scenario('charts follow the theme', async () => {
  const ink = () => plots.first().locator('.xtick text').first().evaluate(text => getComputedStyle(text).fill);
  const before = await ink();
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Dark' });
  await page.waitForFunction(old => {
    const text = document.querySelector('.jp-NotebookPanel .js-plotly-plot .xtick text');
    return text !== null && getComputedStyle(text).fill !== old;
  }, before);
  await picture('chart-dark');
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Light' });
});

await scenario('a comparison in a cell has one live chart, the others are a button away', async () => {
  await openFile(page, url, 'compare.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await drawn(1);
  const output = page.locator('.polyviz-output').last();
  await counts(output.locator('img[alt^="Bar chart"]:visible'), 0);
  await output.scrollIntoViewIfNeeded();
  await picture('chart-compared');
  await output.locator('button:has-text("Interactive chart"):visible').first().click();
  await output.locator('img[alt^="Bar chart"]:visible').waitFor();
  await drawn(1);
  await counts(output.locator('img[alt^="Roofline"]:visible'), 0);
  await picture('chart-compared-roofline');
});

await scenario('blocks and threads have trees of their own', async () => {
  await openFile(page, url, 'gpu.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  await view.locator('summary:text-is("Blocks and threads")').click();
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  await part.locator('[aria-label="Order of blocks"] li').first().waitFor();
  await part.locator('[aria-label="Order of threads"] li').first().waitFor();
  // Of the schedule at first, then of its kernels, which the kernel is asked for now.
  await part.locator('.polyviz-thread').nth(31).waitFor();
});

await scenario('the domain shows blocks and threads, and turns', async () => {
  await view.locator('[aria-label="Colours: blocks and threads"]').click();
  const domain = view.locator('section[aria-label=Domain]');
  await domain.locator('polygon.polyviz-run').first().waitFor();
  await settled();
  await says(domain, /a block spans \d+ × \d+/);
  const corner = domain.locator('svg.polyviz-picture .polyviz-point').last();
  const place = () => corner.getAttribute('d');
  const first = await place();
  await domain.locator('svg.polyviz-picture').focus();
  await page.keyboard.press('Shift+ArrowRight');
  await eventually(async () => assert.notEqual(await place(), first));
  const second = await place();
  await domain.scrollIntoViewIfNeeded();
  const box = await domain.locator('svg.polyviz-picture').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y + 10);
  await page.mouse.move(x + 80, y + 20);
  await page.mouse.up();
  await page.waitForFunction(before => [...document.querySelectorAll('section[aria-label=Domain] svg.polyviz-picture .polyviz-point')].at(-1)?.getAttribute('d') !== before, second);
  await corner.click();
  await says(domain.locator('.polyviz-caption'), /thread \(.*\) of block/);
  await picture('blocks-in-the-domain');
  assert.deepEqual(await serious('section[aria-label=Domain]'), []);
});

await scenario('a device is asked for its kernels when somebody looks', async () => {
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  await part.locator('.polyviz-kernel[aria-label^="Kernel"]').first().waitFor();
  await settled();
  assert.equal(await problem(), '');
  await says(part, /Blocks in the grid: .*, each of .* threads/);
  await says(part, /transactions per request/);
  await says(part, /Where arrays live/);
  await part.locator('.polyviz-kernel').last().scrollIntoViewIfNeeded();
  await picture('device-cards');
  const drawing = part.locator('.polyviz-threads svg').first();
  await drawing.focus();
  const before = await part.locator('.polyviz-thread-sentence').first().innerText();
  await page.keyboard.press('ArrowRight');
  await eventually(async () => assert.notEqual(await part.locator('.polyviz-thread-sentence').first().innerText(), before));
  await says(part.locator('.polyviz-thread-sentence').first(), /^Thread \(.*\) of block \(.*\) runs S0\[/);
  await picture('device-threads');
  assert.deepEqual(await serious('.polyviz'), []);
});

await scenario('the kernels are counted in the emulator, and the saved page holds the counts', async () => {
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  await part.locator('button:text-is("Run in the emulator")').click();
  // The views stay usable while it runs.
  await view.locator('button[aria-label="One step forward"]').click();
  await part.locator('.polyviz-counted').waitFor();
  await settled();
  assert.equal(await problem(), '');
  await says(part, /✓ Counted in the emulator: .* barriers passed\b.*, .* per request/);
  await says(part, /counted per request/);
  await part.locator('.polyviz-counted').scrollIntoViewIfNeeded();
  await picture('device-counted');
  // The notebook has what is shown, and the page that the kernel makes of it, once the browser has nothing better to do.
  await eventually(async () => {
    await execute(page, 'docmanager:save');
    const saved = await page.evaluate(async at => (await fetch(at)).text(), `${url}/api/contents/gpu.ipynb?content=1`);
    assert.match(saved, /Counted in the emulator: /);
    assert.match(saved, /threads at work/);
  });
});

await scenario('the slider goes warp by warp', async () => {
  await view.locator('label:has-text("warp by warp") input').check();
  for (let step = 0; step < 3; step += 1) {
    await view.locator('button[aria-label="One step forward"]').click();
  }
  const told = view.locator('.polyviz-device-step');
  await says(told, /kernel_\w+, block \(0, 0, 0\), warp \d+: \d+ of 32 threads at work/);
  await says(told, /banks/);
  await view.locator('.polyviz-device-step').scrollIntoViewIfNeeded();
  await picture('device-step');
  assert.deepEqual(await serious('.polyviz'), []);
  await view.locator('label:has-text("warp by warp") input').uncheck();
});

await scenario('a schedule with one order has kernels too', async () => {
  await view.locator('input[aria-label="Schedule pluto"]').check();
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  await part.locator('.polyviz-kernel[aria-label^="Kernel"]').first().waitFor();
  await settled();
  await part.scrollIntoViewIfNeeded();
  await picture('device-pluto');
});

await finish();
