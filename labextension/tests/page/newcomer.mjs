// Somebody opens the quickstart and reads nothing else: node newcomer.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, scenario, picture, settled, counts, says, serious, finish } = await stage();
const view = page.locator('.jp-NotebookPanel .polyviz:has(> .polyviz-status, > div .polyviz-columns)').first();

async function menu(at) {
  await view.locator(`button[aria-label="Moves at ${at}"]`).click();
  await view.locator('.polyviz-menu').waitFor();
  await settled();
}

await scenario('a comparison of a first loop', async () => {
  await openFile(page, url, 'quickstart.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await kernelIsIdle(page);
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.scrollToItem(5));
  await page.locator('.jp-NotebookPanel .js-plotly-plot').first().waitFor();
  await picture('newcomer-compared');
});

await scenario('a forbidden move with its pair drawn', async () => {
  await kernelIsIdle(page);
  await view.locator('button[aria-label="Moves at i"]').waitFor();
  await menu('i');
  await view.locator('.polyviz-illegal:has-text("Interchange to j, i")').click();
  await counts(view.locator('.polyviz-ring'), 2);
  await view.scrollIntoViewIfNeeded();
  await picture('newcomer-forbidden');
});

await scenario('a better order from the menu', async () => {
  await menu('j');
  await view.locator('.polyviz-move').filter({ hasText: /^Reversal/ }).first().click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  await menu('i');
  await view.locator('.polyviz-move:not(.polyviz-illegal)').filter({ hasText: /^Interchange/ }).first().click();
  await page.waitForFunction(() => /interchange/.test(document.querySelector('.polyviz-script')?.textContent ?? ''));
  await settled();
  assert.equal(await view.locator('.polyviz-problem').innerText(), '');
  await picture('newcomer-moved');
});

await scenario('it runs, and the script stays', async () => {
  await view.locator('summary:text-is("Timing")').click();
  await view.locator('[aria-label="Timing of the schedules"] button:has-text("Verify and time")').click();
  await view.locator('.js-plotly-plot .plot-container').waitFor();
  await settled();
  await view.locator('td:has-text("✓ agrees")').nth(2).waitFor();
  await says(view.locator('.polyviz-script'), /apply\("reversal", at="j"[^]*apply\("interchange"/);
  await view.locator('.polyviz-script').scrollIntoViewIfNeeded();
  await picture('newcomer-script');
  assert.deepEqual(await serious('.jp-NotebookPanel .polyviz'), []);
});

await scenario('every other result, as it looks', async () => {
  const outputs = page.locator('.jp-NotebookPanel .jp-Cell:has(.jp-OutputArea-output)');
  const count = await outputs.count();
  for (let place = 0; place < count; place += 1) {
    await outputs.nth(place).scrollIntoViewIfNeeded();
    await picture(`newcomer-cell-${String(place).padStart(2, '0')}`);
  }
});

await finish();
