// Three people at work, each in a notebook of their own: node tasks.mjs URL CHROMIUM FOLDER-FOR-SCREENSHOTS
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, view, scenario, picture, problem, settled, counts, says, tells, finish } = await stage();
const unfold = name => view.locator(`summary:text-is("${name}")`).click();

async function run(name) {
  await openFile(page, url, name);
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
}

async function move(at, label) {
  await view.locator(`button[aria-label="Moves at ${at}"]`).click();
  await view.locator('.polyviz-menu').waitFor();
  await settled();
  const choice = view.locator(`.polyviz-move`).filter({ hasText: new RegExp(`^${label}`) }).first();
  await choice.scrollIntoViewIfNeeded();
  return choice;
}

await scenario('somebody tunes jacobi-2d', async () => {
  await run('jacobi.ipynb');
  await view.locator('input[aria-label="Schedule original"]').check();
  const first = await move('S0.i', 'Parallel');
  await says(view.locator('.polyviz-menu'), /steps for \d+ iterations/);
  await picture('task-jacobi-menu');
  await first.click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  await (await move('S1.i', 'Parallel')).click();
  await page.waitForFunction(() => /at="S1/.test(document.querySelector('.polyviz-script')?.textContent ?? ''));
  await settled();
  assert.equal(await problem(), '');
  await unfold('Timing');
  await view.locator('[aria-label="Timing of the schedules"] button:has-text("Verify and time")').click();
  await view.locator('.polyviz-bar').first().waitFor();
  await unfold('Side by side');
  const side = view.locator('details:has(> summary:text-is("Side by side"))');
  await side.locator('.polyviz-verified-yes').nth(1).waitFor();
  await side.scrollIntoViewIfNeeded();
  await picture('task-jacobi-tuned');
  await says(view.locator('.polyviz-script'), /apply\("parallel", at="S0.i"/);
});

await scenario('a slow hand selects a loop while the kernel answers', async () => {
  await run('jacobi.ipynb');
  const before = await view.locator('.polyviz-point').count();
  await view.locator('input[aria-label^="Size n"]').focus();
  await view.locator('.polyviz-tree .polyviz-word').first().hover();
  await page.keyboard.press('ArrowRight');
  await page.mouse.down();
  // Answered long before: nothing is drawn under the hand.
  await page.waitForTimeout(3000);
  await counts(view.locator('.polyviz-point'), before);
  await page.mouse.up();
  await view.locator('[role="treeitem"][aria-selected="true"]').first().waitFor();
});

await scenario('somebody asks why lu is not parallel', async () => {
  await run('lu.ipynb');
  await unfold('Why?');
  const why = view.locator('details:has(> summary:text-is("Why?"))');
  await says(why, /not parallel: iteration i=1 writes A\[1, 1\]/);
  await why.locator('li:has-text("iteration i=1 writes") >> button:has-text("Show the pair")').first().click();
  await counts(view.locator('.polyviz-ring'), 2);
  await picture('task-lu-witness');
  await settled();
  await says(why, /Fusion\s+S0, S1 and S2 share loop i[^]*Reduction\s+S0 accumulates into A/);
  await why.locator('button[aria-label^="Select the loop of: Loop i is not parallel"]').first().click();
  await tells(/Loop i is not parallel: iteration/);
  await why.scrollIntoViewIfNeeded();
  await picture('task-lu-why');
  await (await move('i', 'Parallel')).click();
  await counts(view.locator('.polyviz-ring'), 2);
  await tells(/before|reads|writes/);
  await view.locator('.polyviz-status').scrollIntoViewIfNeeded();
  await picture('task-lu-pair');
});

await scenario('somebody compares three schedulers', async () => {
  await run('three.ipynb');
  await unfold('Side by side');
  const side = view.locator('details:has(> summary:text-is("Side by side"))');
  await counts(side.locator('thead th'), 4);
  await side.locator('button:has-text("Verify and time")').click();
  await side.locator('.polyviz-verified-yes').nth(2).waitFor();
  await side.locator('.polyviz-new').first().waitFor();
  await side.scrollIntoViewIfNeeded();
  await picture('task-three');
});

await finish();
