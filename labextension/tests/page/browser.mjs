// A Chromium that is driven from outside, on a JupyterLab that runs already.
import { chromium } from 'playwright-core';

/** Milliseconds in which the page must come to a state: many times what it needs, since others may keep the machine busy. */
export const PATIENCE = 120_000;

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
];

export async function open(executablePath) {
  const browser = await chromium.launch({ executablePath, headless: true, args: QUIET });
  const page = await browser.newPage({ viewport: { width: 1400, height: 1300 } });
  page.setDefaultTimeout(PATIENCE);
  return { browser, page };
}

// `place` is where the host shows a file: `lab/tree` in JupyterLab, `notebooks` in Notebook 7.
export async function openFile(page, url, name, place = 'lab/tree') {
  await page.goto(`${url}/${place}/${name}?reset`);
  await page.waitForFunction(() => window.jupyterapp?.shell?.currentWidget?.context?.isReady);
}

export async function kernelIsIdle(page) {
  await page.waitForFunction(
    () => window.jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'
  );
}

export async function execute(page, command, args = {}) {
  await page.evaluate(([name, values]) => window.jupyterapp.commands.execute(name, values), [command, args]);
}
