// The scenarios of the linked views in a real JupyterLab: node run.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, folder, page, view, scenario, picture, sentence, problem, settled, serious, finish } = await stage();
const selected = part => view.locator(`[aria-label="${part}"] [aria-selected=true]`).count();

await openFile(page, url, 'live.ipynb');
await kernelIsIdle(page);

await scenario('live', async () => {
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  assert.equal(await view.count(), 1);
  // What tests/views/test_cache.py has the static forms say of the same loops.
  const cache = await view.locator('[aria-label=Cache] table').innerText();
  assert.match(cache, /original\s+126\s+98\s+28\s+0\s+1\.31 KiB[^]*pluto\s+126\s+60\s+66\s+38\s+2\.91 KiB/);
  await picture('live');
});

await scenario('two widgets of a page share no control', async () => {
  await execute(page, 'notebook:copy-cell');
  await execute(page, 'notebook:paste-cell-below');
  await execute(page, 'notebook:run-cell');
  await view.nth(1).locator('button:has-text("Moves")').first().waitFor();
  assert.equal(await page.locator('.jp-NotebookPanel input[aria-label^="Schedule "]:checked').count(), 2);
  await execute(page, 'notebook:delete-cell');
  assert.equal(await view.count(), 1);
});

await scenario('an iteration lights in all views', async () => {
  await view.locator('.polyviz-point').nth(20).click();
  assert.match(await sentence(), /^S0\[\d+, \d+\]: A\[i, j\] = .* runs at i = \d+, j = \d+/);
  assert.equal(await selected('Source'), 1);
  assert.equal(await selected('Schedule tree'), 2);
  // The statement with the two loops around it.
  assert.equal(await selected('Generated code'), 3);
  assert.equal(await selected('Dependences'), 1);
  await picture('iteration');
});

await scenario('keyboard', async () => {
  await view.locator('[aria-label=Domain] svg.polyviz-picture').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp', 'Enter']) {
    await page.keyboard.press(key);
  }
  assert.match(await sentence(), /^S0\[2, 2\]/);
  await page.keyboard.press('Escape');
  assert.match(await sentence(), /^Pick an iteration/);
});

await scenario('a forbidden move shows its pair', async () => {
  await view.locator('button[aria-label="Moves at i"]').click();
  await view.locator('.polyviz-menu').waitFor();
  await settled();
  const forbidden = view.locator('.polyviz-illegal:has-text("Interchange to j, i")');
  assert.match(await forbidden.getAttribute('aria-label'), /not possible/);
  await forbidden.click();
  assert.equal(await view.locator('.polyviz-ring').count(), 2);
  assert.equal(await view.locator('.polyviz-arrow.polyviz-violation').count(), 1);
  assert.match(await sentence(), /reads/);
  await picture('forbidden');
});

await scenario('a legal move, undo and redo', async () => {
  await view.locator('button[aria-label="Moves at j"]').click();
  await view.locator('.polyviz-move:has-text("Skew by i")').click();
  await view.locator('input[aria-label="Schedule by hand"]').waitFor();
  await settled();
  assert.equal(await problem(), '');
  assert.ok(await view.locator('input[aria-label="Schedule by hand"]').isChecked());
  // The pair of the move that was refused before is no part of this order.
  assert.equal(await view.locator('.polyviz-ring').count(), 0);
  assert.match(await view.locator('.polyviz-script').innerText(), /apply\("skew", at="j"/);
  await picture('moved');
  await view.locator('button:has-text("Undo")').click();
  await view.locator('button:has-text("Undo")[disabled]').waitFor();
  await view.locator('button:has-text("Redo")').click();
  await view.locator('button:has-text("Redo")[disabled]').waitFor();
});

await scenario('a tiled schedule in its own space', async () => {
  await view.locator('button[aria-label="Moves at i"]').click();
  await view.locator('.polyviz-move:has-text("Tile by 4 × 4")').click();
  await page.waitForFunction(() => document.querySelectorAll('.polyviz-tile').length > 2);
  await settled();
  await picture('tiles');
  await view.locator('label:has-text("scheduled") input').check();
  await picture('scheduled');
  await view.locator('label:has-text("as written") input').check();
});

await scenario('another size', async () => {
  const before = await view.locator('.polyviz-point').count();
  const slider = view.locator('input[aria-label^="Size n"]');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(count => document.querySelectorAll('.polyviz-point').length > count, before);
  await settled();
});

await scenario('another scheduler', async () => {
  await view.locator('select[aria-label="Scheduler to add"]').selectOption('isl');
  await view.locator('button[aria-label^="Add the schedule"]').click();
  await view.locator('input[aria-label="Schedule isl"]:checked').waitFor();
});

await scenario('an automatic schedule as steps', async () => {
  await view.locator('input[aria-label="Schedule pluto"]').check();
  await view.locator('button:has-text("Show pluto as moves")').click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  assert.equal(await problem(), '');
  const slider = view.locator('input[aria-label="Moves made"]');
  await slider.focus();
  await page.keyboard.press('Home');
  await view.locator('button:has-text("Undo")[disabled]').waitFor();
  assert.ok((await view.locator('.polyviz-undone').count()) >= 1);
  await picture('steps');
  await slider.focus();
  await page.keyboard.press('End');
  await view.locator('button:has-text("Redo")[disabled]').waitFor();
});

await scenario('time', async () => {
  await view.locator('button[aria-label="One step forward"]').click();
  await view.locator('button[aria-label="One step forward"]').click();
  assert.equal(await view.locator('.polyviz-now').count(), 1);
  assert.equal(await view.locator('.polyviz-past').count(), 1);
  await view.locator('label:has-text("parallel loops at once") input').check();
  await view.locator('button[aria-label="One step forward"]').click();
  assert.ok((await view.locator('.polyviz-now').count()) > 1);
  await picture('time');
});

await scenario('verify and time in the background', async () => {
  await view.locator('summary:has-text("Timing")').click();
  await view.locator('[aria-label="Timing of the schedules"] button:has-text("Verify and time")').click();
  await view.locator('.polyviz-bar').first().waitFor({ timeout: 60000 });
  assert.equal(await problem(), '');
  assert.ok((await view.locator('td:has-text("✓ agrees")').count()) >= 2);
  await view.locator('.polyviz-bar').first().scrollIntoViewIfNeeded();
  await picture('timing');
});

await scenario('side by side', async () => {
  await view.locator('summary:has-text("Side by side")').click();
  assert.equal(await view.locator('details:has-text("Side by side") th[scope=col]').count() >= 4, true);
  assert.ok((await view.locator('.polyviz-differs').count()) >= 1);
  await view.locator('.polyviz-differs').first().scrollIntoViewIfNeeded();
  await picture('side-by-side');
});

await scenario('a picture as a file', async () => {
  for (const kind of ['SVG', 'PNG']) {
    const [file] = await Promise.all([page.waitForEvent('download'), view.locator(`[aria-label=Domain] button:has-text("Save ${kind}")`).click()]);
    await file.saveAs(`${folder}/saved.${kind.toLowerCase()}`);
  }
  const saved = readFileSync(`${folder}/saved.svg`, 'utf8');
  assert.match(saved, /fill="rgb/);
  assert.doesNotMatch(saved, /var\(--/);
});

await scenario('nothing serious for axe', async () => {
  assert.deepEqual(await serious('.polyviz'), []);
});

await scenario('dark theme', async () => {
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Dark' });
  await page.waitForFunction(() => document.body.dataset.jpThemeLight === 'false');
  await view.locator('.polyviz-point').nth(3).click();
  await page.waitForTimeout(400);
  await picture('dark');
  assert.deepEqual(await serious('.polyviz', ['color-contrast']), []);
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Light' });
});

await scenario('reload with the kernel alive', async () => {
  await execute(page, 'docmanager:save');
  await page.waitForTimeout(500);
  await openFile(page, url, 'live.ipynb');
  // By itself, without Reconnect.
  await view.locator('button:has-text("Moves…")').first().waitFor();
  assert.equal(await view.count(), 1);
  assert.equal(await page.locator('.polyviz-reconnect').count(), 0);
  assert.equal(await page.locator('text=Error displaying widget >> visible=true').count(), 0);
  await view.locator('.polyviz-point').nth(3).click();
  assert.match(await sentence(), /^S0\[/);
  assert.equal(await view.locator('input[aria-label="Schedule by hand"]').count(), 1);
  await picture('reloaded');
});

await scenario('reload without a kernel', async () => {
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
  await openFile(page, url, 'live.ipynb');
  await view.first().waitFor();
  await page.waitForTimeout(3000);
  assert.equal(await view.count(), 1);
  assert.equal(await view.locator('button:has-text("Moves")').count(), 0);
  assert.equal(await page.locator('text=Error displaying widget >> visible=true').count(), 0);
  assert.match(await view.locator('.polyviz-script').textContent(), /edit\.apply/);
  assert.equal(await view.locator('.polyviz-bar').count(), 5);
  await view.locator('input[aria-label="Schedule original"]').check();
  await view.locator('[role=treeitem] > .polyviz-node:has-text("loop i")').first().click();
  assert.match(await sentence(), /Loop i is not parallel: iteration i=1 writes A\[1, 2\] in S0 and iteration i=2 reads it in S0 \(line \d+\) \[n = 4\]\. It carries flow of A/);
  await picture('without-kernel');
});

await scenario('the command puts the magic on a cell and runs it; only then it has the button', async () => {
  await openFile(page, url, 'command.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-cell-and-select-next');
  const pressed = page.locator('.jp-cell-toolbar [data-command="polyviz:inspect-cell"] >> visible=true');
  await page.locator('.jp-cell-toolbar [data-command="notebook:move-cell-up"]').first().waitFor();
  assert.equal(await pressed.count(), 0);
  await execute(page, 'polyviz:inspect-cell');
  await view.locator('.polyviz-point').first().waitFor();
  await pressed.waitFor();
  await picture('toolbar');
  assert.match(await page.locator('.jp-Cell .cm-content').nth(1).innerText(), /^%%polyopt --inspect/);
});

await scenario('other results keep their static page', async () => {
  await openFile(page, url, 'values.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await page.locator('.jp-OutputArea-output img[alt^="Iteration domain"]').first().waitFor();
  assert.ok((await page.locator('.jp-OutputArea-output table').count()) >= 2);
  assert.equal(await page.locator('.polyviz-card').count(), 0);
  await picture('values');
});

await scenario('saved results out of sight are there when they come into view', async () => {
  await openFile(page, url, 'long.ipynb');
  const pictures = page.locator('.jp-OutputArea-output img[alt^="Iteration domain"]');
  await pictures.first().waitFor();
  for (const place of [10, 20, 30, 39]) {
    await page.evaluate(number => window.jupyterapp.shell.currentWidget.content.scrollToItem(number), place);
    await page.locator(`.jp-Cell[data-windowed-list-index="${place}"] img[alt^="Iteration domain"]`).waitFor();
    assert.equal(await page.locator('text=Javascript Error').count(), 0);
  }
});

await scenario('an untrusted notebook with hostile names', async () => {
  await openFile(page, url, 'hostile.ipynb');
  await view.first().waitFor();
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await view.locator('img, script, iframe').count(), 0);
  assert.ok((await view.innerText()).includes('<img src=x onerror='));
  await picture('untrusted');
});

await scenario('a file from a newer version', async () => {
  await openFile(page, url, 'newer.polyviz.json');
  await page.locator('.polyviz-card').waitFor();
  assert.match(await view.innerText(), /newer polyviz/);
});

await scenario('a saved file', async () => {
  await openFile(page, url, 'saved.polyviz.json');
  await view.locator('.polyviz-point').first().waitFor();
  await picture('document');
});

await finish();
