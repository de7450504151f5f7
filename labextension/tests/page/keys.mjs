// Somebody without a mouse, and somebody far down in the views: node keys.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, view, scenario, picture, eventually, tells, settled, finish } = await stage();
const focused = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent);
const onFocus = name => eventually(async () => assert.equal(await focused(), name));
const undone = count => page.waitForFunction(wanted => document.querySelectorAll('.polyviz-undone').length === wanted, count);

await openFile(page, url, 'live.ipynb');
await kernelIsIdle(page);
await execute(page, 'notebook:run-all-cells');
await view.locator('button:has-text("Moves")').first().waitFor();

await scenario('a move, undo and redo by keys alone', async () => {
  await view.locator('[role=treeitem]').first().focus();
  for (const key of ['ArrowDown', 'Tab', 'Enter']) {
    await page.keyboard.press(key);
  }
  await view.locator('.polyviz-menu').waitFor();
  await onFocus('Moves at i');
  // Moves come one by one: the first to come may be one that is not legal.
  await view.locator('.polyviz-move:not(.polyviz-illegal)').first().waitFor();
  // What the moves would change follows: it takes no focus away.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await view.locator('.polyviz-move:focus').waitFor();
  const first = await view.locator('.polyviz-move:focus').evaluate(one => one.firstChild.textContent);
  await settled();
  assert.equal(await view.locator('.polyviz-move:focus').evaluate(one => one.firstChild.textContent), first);
  await page.keyboard.press('Enter');
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  await view.locator('button:has-text("Undo")').focus();
  await page.keyboard.press('Enter');
  await undone(1);
  await onFocus('Redo');
  await page.keyboard.press('Enter');
  await undone(0);
  await onFocus('Moves made');
});

await scenario('the sentence of what is picked far down stays in sight', async () => {
  await page.setViewportSize({ width: 1400, height: 700 });
  await view.locator('section[aria-label=Dependences] tbody tr').first().click();
  await view.locator('summary:text-is("Timing")').scrollIntoViewIfNeeded();
  await tells(/^The flow dependence through A/);
  await eventually(async () => {
    const [status, scrolled] = await page.evaluate(() => {
      const top = element => document.querySelector(element).getBoundingClientRect().top;
      return [top('.jp-NotebookPanel .polyviz-status') - top('.jp-WindowedPanel-outer'), top('.jp-NotebookPanel .polyviz')];
    });
    assert.ok(scrolled < 0, 'the views reach above the window');
    assert.ok(Math.abs(status) < 5, `the sentence is ${status} px below the top`);
  });
  await picture('in-sight');
});

await finish();
