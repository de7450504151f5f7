import assert from 'node:assert/strict';
import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';
const { url, page, view, scenario, picture, problem, settled, serious, finish } = await stage();
await scenario('blocks and threads have trees of their own', async () => {
  await openFile(page, url, 'gpu.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.locator('button:has-text("Moves")').first().waitFor();
  await view.locator('summary:text-is("Blocks and threads")').click();
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  assert.ok((await part.locator('.polyviz-thread').count()) >= 32);
  assert.match(await part.innerText(), /threads in a block, \d+ warps/);
});

await scenario('a device is asked for its kernels when somebody looks', async () => {
  const part = view.locator('details:has(> summary:text-is("Blocks and threads"))');
  await part.locator('.polyviz-kernel[aria-label^="Kernel"]').first().waitFor();
  await settled();
  assert.equal(await problem(), '');
  const text = await part.innerText();
  assert.match(text, /Grid of .* blocks, each of .* threads/);
  assert.match(text, /transactions per request/);
  assert.match(text, /Where arrays live/);
  await part.locator('.polyviz-kernel').last().scrollIntoViewIfNeeded();
  await picture('device-cards');
  const drawing = part.locator('.polyviz-threads svg').first();
  await drawing.focus();
  const before = await part.locator('.polyviz-thread-sentence').first().innerText();
  await page.keyboard.press('ArrowRight');
  const after = await part.locator('.polyviz-thread-sentence').first().innerText();
  assert.match(after, /^Thread \(.*\) of block \(.*\) runs S0\[/);
  assert.notEqual(before, after);
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
  const text = await part.innerText();
  assert.match(text, /✓ Counted in the emulator: .* barriers passed, .* per request/);
  assert.match(text, /counted per request/);
  await part.locator('.polyviz-counted').scrollIntoViewIfNeeded();
  await picture('device-counted');
  await execute(page, 'docmanager:save');
  const saved = await page.evaluate(async at => (await fetch(at)).text(), `${url}/api/contents/gpu.ipynb?content=1`);
  assert.match(saved, /Counted in the emulator: /);
  assert.match(saved, /threads at work/);
});

await scenario('the slider goes warp by warp', async () => {
  await view.locator('label:has-text("warp by warp") input').check();
  for (let step = 0; step < 3; step += 1) {
    await view.locator('button[aria-label="One step forward"]').click();
  }
  const told = await view.locator('.polyviz-device-step').innerText();
  assert.match(told, /kernel_\w+, block \(0, 0, 0\), warp \d+: \d+ of 32 threads at work/);
  assert.match(told, /banks/);
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

await scenario('cell', async () => {
  await openFile(page, url, 'cell.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await page.locator('.jp-OutputArea-output:has-text("superposition/emulated")').first().waitFor();
  await page.waitForTimeout(3000);
  await picture('cell-top');
  const bt = page.locator('.jp-NotebookPanel summary:has-text("Blocks and threads")').first();
  await bt.scrollIntoViewIfNeeded();
  await picture('cell-blocks');
});
await finish();
