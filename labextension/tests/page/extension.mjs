// The side panel, the commands, the settings, and what happens when the kernel goes: node extension.mjs URL CHROMIUM FOLDER
import assert from 'node:assert/strict';

import { execute, kernelIsIdle, openFile } from './browser.mjs';
import { stage } from './stage.mjs';

const { url, page, view, scenario, picture, settled, eventually, counts, says, tells, serious, finish } = await stage();
const panel = page.locator('#polyviz-sessions');
const activeCell = () => page.evaluate(() => window.jupyterapp.shell.currentWidget.content.activeCellIndex);

await scenario('the side panel lists the inspected loops and follows the active cell', async () => {
  await openFile(page, url, 'two.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-all-cells');
  await view.nth(1).locator('.polyviz-point').first().waitFor();
  await execute(page, 'polyviz:show-sessions');
  await panel.locator('.polyviz-session').nth(1).waitFor();
  await eventually(async () => {
    const listed = await panel.locator('.polyviz-session').evaluateAll(all => all.map(one => one.firstChild.textContent));
    assert.deepEqual(listed, ['first', 'second']);
  });
  await panel.locator('.polyviz-session').first().click();
  await panel.locator('.polyviz-session[aria-current=true]:has-text("first")').waitFor();
  await says(panel, /A\[i, j\] =/);
  await execute(page, 'polyviz:next-session');
  await panel.locator('.polyviz-session[aria-current=true]:has-text("second")').waitFor();
  await eventually(async () => assert.equal(await activeCell(), 2));
  await says(panel, /total \+=|total = /);
  await picture('panel');
  assert.deepEqual(await serious('#polyviz-sessions'), []);
});

await scenario('the script of the moves becomes a cell that runs', async () => {
  await page.keyboard.press('Escape');
  await panel.locator('.polyviz-session').first().click();
  await view.first().locator('button[aria-label="Moves at j"]').click();
  await view.first().locator('.polyviz-move:has-text("Skew by i")').click();
  await view.first().locator('input[aria-label="Schedule by hand"]').waitFor();
  await panel.locator('text=1 move by hand').waitFor();
  await execute(page, 'polyviz:insert-script');
  await execute(page, 'notebook:run-cell');
  await kernelIsIdle(page);
  const texts = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.sharedModel.getSource()));
  assert.match(texts[2], /apply\("skew", at="j"/);
  assert.equal(await page.locator('.jp-NotebookPanel [data-mime-type="application/vnd.jupyter.stderr"]').count(), 0);
  await picture('script-cell');
});

await scenario('the edit is there in Python', async () => {
  const answer = await page.evaluate(async () => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({ code: 'print(first.edit.history, first.schedule.scheduler)' });
    let text = '';
    future.onIOPub = message => (text += message.content.text ?? '');
    await future.done;
    return text;
  });
  assert.match(answer, /skew\(at="j", by="i"/);
});

await scenario('Tab completes the options and their values', async () => {
  await execute(page, 'notebook:insert-cell-below');
  await execute(page, 'notebook:enter-edit-mode');
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.content.activeCell.editor?.hasFocus());
  await page.keyboard.type('%%polyopt -s spa');
  // JupyterLab gives a kernel one second for completions.
  await eventually(async () => {
    await execute(page, 'completer:invoke-notebook');
    await page.waitForFunction(
      () =>
        /spatial/.test(document.querySelector('.jp-Completer')?.textContent ?? '') ||
        /%%polyopt -s spatial/.test(window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.getSource()),
      null,
      { timeout: 3000 }
    );
  });
  await picture('completion');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await execute(page, 'notebook:delete-cell');
});

await scenario('a setting says which options an inspected cell gets', async () => {
  await page.evaluate(async () => {
    const id = 'polyviz-lab:plugin';
    await window.jupyterapp.serviceManager.settings.save(id, '{ "options": "-s original,spatial" }');
  });
  await page.reload();
  await openFile(page, url, 'command.ipynb');
  await kernelIsIdle(page);
  await execute(page, 'notebook:run-cell-and-select-next');
  await execute(page, 'polyviz:inspect-cell');
  await view.locator('input[aria-label="Schedule spatial"]').waitFor();
  await says(page.locator('.jp-Cell .cm-content').nth(1), /^%%polyopt --inspect -s original,spatial/);
});

// The kernel answers what is asked in the view.
const answers = async () => {
  await view.locator('button:has-text("Moves")').first().click();
  await view.locator('.polyviz-move').first().waitFor();
};

await scenario('a kernel that dies leaves the last state and a button', async () => {
  await view.locator('.polyviz-point').nth(5).click();
  await view.locator('input[aria-label="Schedule spatial"]').check();
  await view.locator('summary:text-is("Why?")').click();
  await view.locator('.polyviz-why').waitFor();
  await settled();
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await page.locator('.polyviz-reconnect').waitFor();
  await counts(view, 1);
  await view.locator('.polyviz-point').nth(10).waitFor();
  await counts(view.locator('button:has-text("Moves")'), 0);
  await kernelIsIdle(page);
  await view.locator('input[aria-label="Schedule spatial"]:checked').waitFor();
  await eventually(async () => assert.deepEqual(await view.locator('details[open] > summary').allInnerTexts(), ['Why?']));
  await picture('kernel-gone');
  // The new kernel knows nothing: the cells above have to run first.
  await page.locator('.polyviz-reconnect button').click();
  await answers();
  await counts(page.locator('.polyviz-reconnect'), 0);
  await counts(page.locator('.jupyter-widgets-disconnected'), 0);
});

await scenario('a kernel that dies while it times says so where one looks', async () => {
  await settled();
  await page.setViewportSize({ width: 1400, height: 700 });
  await view.locator('summary:text-is("Timing")').click();
  await view.locator('[aria-label="Timing of the schedules"] button:has-text("Verify and time")').click();
  await page.waitForFunction(() => [...document.querySelectorAll('.polyviz-busy')].some(one => /timing/.test(one.textContent)));
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await page.locator('.polyviz-reconnect').waitFor();
  await kernelIsIdle(page);
  await view.locator('summary:text-is("Timing")').scrollIntoViewIfNeeded();
  await eventually(async () => {
    const [bar, edge, scrolled] = await page.evaluate(() => {
      const top = element => document.querySelector(element).getBoundingClientRect().top;
      return [top('.polyviz-reconnect'), top('.jp-NotebookPanel .jp-WindowedPanel-outer'), top('.jp-NotebookPanel .polyviz')];
    });
    assert.ok(scrolled < edge - 50, 'the views reach above the window');
    assert.ok(Math.abs(bar - edge) < 5, `the bar is ${bar - edge} px below the top`);
  });
  await picture('kernel-gone-timing');
  await page.setViewportSize({ width: 1400, height: 1300 });
  await page.locator('.polyviz-reconnect button').click();
  await answers();
});

await scenario('schedules that were added and moves made by hand are there again in a new kernel', async () => {
  await settled();
  await view.locator('select[aria-label="Scheduler to add"]').selectOption('isl');
  await view.locator('button[aria-label^="Add the schedule"]').click();
  await view.locator('input[aria-label="Schedule isl"]:checked').waitFor();
  await settled();
  await view.locator('button:has-text("Moves")').first().click();
  await view.locator('.polyviz-move:has-text("strip")').first().click();
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await settled();
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await page.locator('.polyviz-reconnect').waitFor();
  await kernelIsIdle(page);
  await page.locator('.polyviz-reconnect button').click();
  await says(view.locator('.polyviz-status'), /Made again in this kernel: isl and 1 move by hand\./);
  await counts(view.locator('input[aria-label="Schedule isl"]'), 1);
  await view.locator('input[aria-label="Schedule by hand"]:checked').waitFor();
  await answers();
});

await scenario('in a kernel that was prepared by hand only the cell itself runs again', async () => {
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart());
  await page.locator('.polyviz-reconnect').waitFor();
  await kernelIsIdle(page);
  await page.evaluate(async () => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = 0;
    await window.jupyterapp.commands.execute('notebook:run-cell');
  });
  await page.locator('.polyviz-reconnect button').click();
  await says(view.locator('.polyviz-status'), /Made again in this kernel/);
  await answers();
  await eventually(async () => {
    const counted = await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.executionCount));
    assert.deepEqual(counted, [1, 2]);
  });
});

await scenario('the keys of the commands, in both modes', async () => {
  await page.evaluate(() => (window.jupyterapp.shell.currentWidget.content.activeCellIndex = 0));
  for (const mode of ['notebook:enter-command-mode', 'notebook:enter-edit-mode']) {
    await execute(page, 'notebook:move-cursor-up');
    await execute(page, mode);
    await page.keyboard.press('Control+k');
    await page.keyboard.press('n');
    await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.content.activeCellIndex === 1);
  }
  assert.match(await page.evaluate(() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.getSource()), /^%load_ext/);
});

await scenario('closed and opened again, the panel lists what is there, and Ctrl+S saves from within a view', async () => {
  await view.locator('input[aria-label="Schedule original"]').focus();
  await page.keyboard.press('Control+s');
  await page.waitForFunction(() => !window.jupyterapp.shell.currentWidget.context.model.dirty);
  await execute(page, 'polyviz:show-sessions');
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.close());
  await panel.locator('text=No loops are inspected').waitFor();
  await execute(page, 'docmanager:open', { path: 'command.ipynb' });
  await panel.locator('.polyviz-session').waitFor();
});

await scenario('a hundred thousand points stay interactive', async () => {
  await openFile(page, url, 'many.polyviz.json');
  await view.locator('canvas.polyviz-cloud').waitFor();
  const painted = await page.evaluate(async () => {
    const frame = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const forward = document.querySelector('.polyviz [aria-label="One step forward"]');
    const times = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const started = performance.now();
      forward.click();
      await frame();
      times.push(performance.now() - started);
    }
    return times.sort((one, other) => one - other)[2];
  });
  console.log(`      a step with 100 000 points: ${Math.round(painted)} ms`);
  await view.locator('[aria-label=Domain] svg.polyviz-picture').click({ position: { x: 200, y: 150 } });
  await tells(/^S0\[\d+, \d+\]/);
  await picture('many');
});

await scenario('a narrow view, as with 200 % zoom', async () => {
  await page.setViewportSize({ width: 700, height: 900 });
  await openFile(page, url, 'saved.polyviz.json');
  await view.locator('.polyviz-point').first().waitFor();
  // The sidebars of the page make room for a small window in their own time.
  await eventually(async () => {
    const overflow = await view.evaluate(node => node.scrollWidth - node.clientWidth);
    assert.ok(overflow <= 1, `${overflow} pixels too wide`);
  });
  await picture('narrow');
  await page.setViewportSize({ width: 1400, height: 1300 });
});

await scenario('with reduced motion it plays calmly', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await openFile(page, url, 'saved.polyviz.json');
  // Timers of a busy page are late, never early.
  await view.locator('button:has-text("Play")').evaluate(play => {
    const lit = () => document.querySelector('.polyviz-now') !== null;
    const observer = new MutationObserver(() => {
      if (lit()) {
        observer.disconnect();
        window.calm = performance.now() - started;
      }
    });
    observer.observe(document.body, { attributes: true, childList: true, subtree: true });
    const started = performance.now();
    play.click();
  });
  await view.locator('.polyviz-now').first().waitFor();
  const waited = await page.evaluate(() => window.calm);
  assert.ok(waited > 1400, `a picture after ${waited} ms`);
  await view.locator('button:has-text("Pause")').click();
  await page.emulateMedia({ reducedMotion: null });
});

await finish();
