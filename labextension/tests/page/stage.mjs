// What every set of scenarios needs: a page, the views on it, and how a scenario is run, told and photographed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { open, PATIENCE } from './browser.mjs';

// Notebook 7 stumbles over its own settings while it starts, with and without the extension.
const isOfNotebook = trace => trace.includes('/notebook_core.') && !trace.includes('polyviz');

export async function stage() {
  const [url, chromium, folder, only = ''] = process.argv.slice(2);
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const { browser, page } = await open(chromium);
  const failures = [];
  page.on('pageerror', error => {
    if (!isOfNotebook(error.stack ?? '')) {
      failures.push(error.message);
      console.log(`FAIL  in the page: ${error.stack ?? error.message}`);
    }
  });
  const picture = name => page.screenshot({ path: `${folder}/${name}.png` });
  const view = page.locator('.jp-NotebookPanel .polyviz, .jp-MimeDocument .polyviz');

  async function scenario(name, act) {
    if (!name.includes(only)) {
      return;
    }
    const started = Date.now();
    try {
      await act();
      console.log(`ok    ${name} (${Date.now() - started} ms)`);
    } catch (error) {
      await picture(`failed-${name.replaceAll(' ', '-')}`);
      console.log(`FAIL  ${name}: ${error.message}`);
      failures.push(name);
    }
  }

  /**
   * Ask `check` again until it no longer throws. What is asked of the page right after an action has to be asked so, or by
   * a locator that waits: parts unfold, and kernels answer, when the machine has time. That something is absent proves
   * nothing before the page has come to a state in which it would be there.
   */
  async function eventually(check) {
    const end = Date.now() + PATIENCE;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
      }
      await page.waitForTimeout(50);
    }
  }

  const sentence = view.locator('.polyviz-sentence');

  // What axe calls serious or critical below `selector`, in words.
  async function serious(selector, rules = null) {
    await page.evaluate(axe);
    const options = rules === null ? {} : { runOnly: rules };
    const found = await page.evaluate(([place, how]) => window.axe.run(place, how), [selector, options]);
    const grave = found.violations.filter(one => ['serious', 'critical'].includes(one.impact));
    return grave.flatMap(one => one.nodes.map(node => `${one.id}: ${node.html}`));
  }

  async function finish() {
    await browser.close();
    if (failures.length > 0) {
      console.log(`failures: ${failures.join('; ')}`);
      process.exit(1);
    }
  }

  return {
    url,
    folder,
    page,
    view,
    scenario,
    picture,
    serious,
    finish,
    eventually,
    /** That `locator` comes to find so many elements. */
    counts: (locator, number) => eventually(async () => assert.equal(await locator.count(), number)),
    /** That the text of `locator` comes to match. */
    says: (locator, pattern) => eventually(async () => assert.match(await locator.innerText(), pattern)),
    /** That the sentence of the selection comes to match. */
    tells: pattern => eventually(async () => assert.match(await sentence.innerText(), pattern)),
    problem: () => view.locator('.polyviz-problem').innerText(),
    /** The kernel has answered all that was asked so far; a part that unfolds asks only once its content is there. */
    settled: () =>
      page.waitForFunction(() => {
        const busy = [...document.querySelectorAll('.polyviz-busy')];
        return busy.length > 0 && busy.every(one => one.textContent === '');
      })
  };
}
