// The scenarios of the linked views in a real JupyterLab: node run.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, folder, page, view, scenario, picture, problem, settled, eventually, counts, says, tells, serious, finish } = await stage();
const selected = part => view.locator(`[aria-label="${part}"] [aria-selected=true]`);
const errors = page.locator('text=Error displaying widget >> visible=true');

await openFile(page, url, 'live.ipynb');
await kernelIsIdle(page);

await scenario('live', async () => {
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  await counts(view, 1);
  // What tests/views/test_cache.py has the static forms say of the same loops.
  await says(view.locator('[aria-label=Cache] table'), /original\s+126\s+98\s+28\s+0\s+14\s+1\.31 KiB[^]*pluto\s+126\s+60\s+66\s+38\s+27\s+2\.91 KiB/);
  await picture('live');
});

await scenario('two widgets of a page share no control', async () => {
  await execute(page, 'notebook:copy-cell');
  await execute(page, 'notebook:paste-cell-below');
  await execute(page, 'notebook:run-cell');
  await view.nth(1).locator('button:has-text("Moves")').first().waitFor();
  await counts(page.locator('.jp-NotebookPanel input[aria-label^="Schedule "]:checked'), 2);
  await execute(page, 'notebook:delete-cell');
  await counts(view, 1);
});

await scenario('what a cell showed before it ran again is let go', async () => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable');
  const again = async () => {
    await page.evaluate(() => void (window.drawnBefore = new WeakRef(document.querySelector('.jp-NotebookPanel .polyviz'))));
    await execute(page, 'notebook:run-all-cells');
    await page.waitForFunction(() => window.drawnBefore.deref()?.isConnected !== true);
    await view.locator('button:has-text("Moves")').first().waitFor();
    await kernelIsIdle(page);
  };
  const held = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(one => one.name === 'Nodes').value;
  };
  await again();
  const [before, drawn] = [await held(), await view.locator('*').count()];
  for (let time = 0; time < 5; time += 1) {
    await again();
  }
  // What was drawn last may wait for its turn; five of them may not.
  await eventually(async () => {
    const more = (await held()) - before;
    assert.ok(more < 2 * drawn, `${more} nodes more than before, and the views have ${drawn}`);
  });
  await devtools.detach();
});

await scenario('an iteration lights in all views', async () => {
  await view.locator('.polyviz-point').nth(20).click();
  await tells(/^S0\[\d+, \d+\]: A\[i, j\] = .* runs at i = \d+, j = \d+/);
  await counts(selected('Source'), 1);
  await counts(selected('Schedule tree'), 2);
  // The statement with the two loops around it.
  await counts(selected('Generated code'), 3);
  await counts(selected('Dependences'), 1);
  await picture('iteration');
});

await scenario('keyboard', async () => {
  await view.locator('[aria-label=Domain] svg.polyviz-picture').focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp', 'Enter']) {
    await page.keyboard.press(key);
  }
  await tells(/^S0\[2, 2\]/);
  await page.keyboard.press('Escape');
  await tells(/^Pick an iteration/);
});

await scenario('a forbidden move shows its pair', async () => {
  await view.locator('button[aria-label="Moves at i"]').click();
  await view.locator('.polyviz-menu').waitFor();
  await settled();
  const forbidden = view.locator('.polyviz-illegal:has-text("Interchange to j, i")');
  assert.match(await forbidden.getAttribute('aria-label'), /not possible/);
  await forbidden.click();
  await counts(view.locator('.polyviz-ring'), 2);
  await counts(view.locator('.polyviz-arrow.polyviz-violation'), 1);
  await tells(/reads/);
  await picture('forbidden');
});

await scenario('a legal move, undo and redo', async () => {
  await view.locator('button[aria-label="Moves at j"]').click();
  await view.locator('.polyviz-move:has-text("Skew by i")').click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  assert.equal(await problem(), '');
  // The pair of the move that was refused before is no part of this order.
  await counts(view.locator('.polyviz-ring'), 0);
  await says(view.locator('.polyviz-script'), /apply\("skew", at="j"/);
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
  await view.locator('.polyviz-undone').first().waitFor();
  await picture('steps');
  await slider.focus();
  await page.keyboard.press('End');
  await view.locator('button:has-text("Redo")[disabled]').waitFor();
});

await scenario('time', async () => {
  await view.locator('button[aria-label="One step forward"]').click();
  await view.locator('button[aria-label="One step forward"]').click();
  await counts(view.locator('.polyviz-now'), 1);
  await counts(view.locator('.polyviz-past'), 1);
  await view.locator('label:has-text("parallel loops at once") input').check();
  await view.locator('button[aria-label="One step forward"]').click();
  await view.locator('.polyviz-now').nth(1).waitFor();
  await picture('time');
});

await scenario('verify and time in the background', async () => {
  await view.locator('summary:has-text("Timing")').click();
  await view.locator('[aria-label="Timing of the schedules"] button:has-text("Verify and time")').click();
  await view.locator('.polyviz-bar').first().waitFor();
  await settled();
  assert.equal(await problem(), '');
  await view.locator('td:has-text("✓ agrees")').nth(1).waitFor();
  await view.locator('.polyviz-bar').first().scrollIntoViewIfNeeded();
  await picture('timing');
});

await scenario('side by side', async () => {
  await view.locator('summary:has-text("Side by side")').click();
  await view.locator('details:has-text("Side by side") th[scope=col]').nth(3).waitFor();
  await view.locator('.polyviz-differs').first().waitFor();
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
  // Without it the light edges of letters would be painted over them.
  assert.match(saved, /paint-order="stroke"/);
});

await scenario('nothing serious for axe', async () => {
  assert.deepEqual(await serious('.polyviz'), []);
});

await scenario('dark theme', async () => {
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Dark' });
  await page.waitForFunction(() => document.body.dataset.jpThemeLight === 'false');
  await view.locator('.polyviz-point').nth(3).click();
  // The style sheet of a theme comes after its name.
  await eventually(async () => assert.deepEqual(await serious('.polyviz', ['color-contrast']), []));
  await picture('dark');
  await execute(page, 'apputils:change-theme', { theme: 'JupyterLab Light' });
});

await scenario('reload with the kernel alive', async () => {
  await execute(page, 'docmanager:save');
  await openFile(page, url, 'live.ipynb');
  // By itself, without Reconnect.
  await view.locator('button:has-text("Moves…")').first().waitFor();
  await counts(view, 1);
  await counts(page.locator('.polyviz-reconnect'), 0);
  assert.equal(await errors.count(), 0);
  await view.locator('.polyviz-point').nth(3).click();
  await tells(/^S0\[/);
  await counts(view.locator('input[aria-label="Schedule by hand"]'), 1);
  await picture('reloaded');
});

await scenario('reload without a kernel', async () => {
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
  await openFile(page, url, 'live.ipynb');
  // Offered when several attempts to bring the widget to life have failed.
  await page.locator('.polyviz-reconnect').waitFor();
  await counts(view, 1);
  assert.equal(await view.locator('button:has-text("Moves")').count(), 0);
  assert.equal(await errors.count(), 0);
  assert.match(await view.locator('.polyviz-script').textContent(), /edit\.apply/);
  await counts(view.locator('.polyviz-bar'), 5);
  await view.locator('input[aria-label="Schedule original"]').check();
  await view.locator('[role=treeitem] > .polyviz-node:has-text("loop i")').first().click();
  await tells(/Loop i is not parallel: iteration i=1 writes A\[1, 2\] in S0 and iteration i=2 reads it in S0 \(line \d+\) \[n = 4\]\. It carries flow of A/);
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
  await says(page.locator('.jp-Cell .cm-content').nth(1), /^%%polyopt --inspect/);
});

await scenario('other results keep their static page', async () => {
  await openFile(page, url, 'values.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await page.locator('.jp-OutputArea-output img[alt^="Iteration domain"]').first().waitFor();
  await page.locator('.jp-OutputArea-output table').nth(1).waitFor({ state: 'attached' });
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
  await says(view, /<img src=x onerror=/);
  // A picture that is missing, as those in the names would be: theirs were asked for before it.
  await page.evaluate(() => new Promise(resolve => (Object.assign(new Image(), { src: 'missing', onerror: resolve }))));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await view.locator('img, script, iframe').count(), 0);
  await picture('untrusted');
});

await scenario('a file from a newer version', async () => {
  await openFile(page, url, 'newer.polyviz.json');
  await page.locator('.polyviz-card').waitFor();
  await says(view, /newer polyviz/);
});

await scenario('a saved file', async () => {
  await openFile(page, url, 'saved.polyviz.json');
  await view.locator('.polyviz-point').first().waitFor();
  await picture('document');
});

await finish();
