// The main gestures in another host, or with an installed wheel: node hosts.mjs URL CHROMIUM FOLDER ONLY PLACE
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, view, scenario, picture, problem, settled, counts, says, tells, serious, finish } = await stage();
const place = process.argv[6];
const name = place.replaceAll('/', '-');
const point = () => view.locator('.polyviz-point');

await scenario('the views are live', async () => {
  await openFile(page, url, 'live.ipynb', place);
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  await counts(view, 1);
  await point().nth(20).click();
  await tells(/^S0\[\d+, \d+\]: A\[i, j\] = .* runs at i = \d+, j = \d+/);
  await picture(`${name}-live`);
});

await scenario('a forbidden move shows its pair, a legal one is made', async () => {
  await view.locator('button[aria-label="Moves at i"]').click();
  await view.locator('.polyviz-menu').waitFor();
  await settled();
  await view.locator('.polyviz-illegal:has-text("Interchange to j, i")').click();
  await counts(view.locator('.polyviz-arrow.polyviz-violation'), 1);
  await view.locator('button[aria-label="Moves at j"]').click();
  await view.locator('.polyviz-move:has-text("Skew by i")').click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  assert.equal(await problem(), '');
  await says(view.locator('.polyviz-script'), /apply\("skew", at="j"/);
  await picture(`${name}-moved`);
});

await scenario('nothing serious for axe', async () => {
  assert.deepEqual(await serious('.polyviz'), []);
});

await scenario('the side panel lists the loops', async () => {
  await execute(page, 'polyviz:show-sessions');
  await page.locator('#polyviz-sessions .polyviz-session').first().waitFor();
  await picture(`${name}-panel`);
});

await scenario('saved and opened without a kernel', async () => {
  await execute(page, 'docmanager:save');
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
  await openFile(page, url, 'live.ipynb', place);
  // Offered when several attempts to bring the widget to life have failed.
  await page.locator('.polyviz-reconnect').waitFor();
  await counts(view, 1);
  assert.equal(await view.locator('button:has-text("Moves")').count(), 0);
  assert.equal(await page.locator('text=Error displaying widget >> visible=true').count(), 0);
  await point().nth(5).click();
  await tells(/^S0\[/);
  await picture(`${name}-saved`);
});

await finish();
