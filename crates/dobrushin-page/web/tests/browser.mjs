// A browser, and pages in it that are watched: what they request, what they log, and whether a script ran that should not.
import { chromium } from 'playwright-core';

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS });

/** Opens the page at a fragment. `watched` collects every request to elsewhere, every message and every error. */
export async function open(browser, served, { fragment = '', size = DESKTOP, theme = 'light', ...options } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: theme, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const watched = { elsewhere: [], messages: [], errors: [] };
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(served.origin) && !address.startsWith('data:') && !address.startsWith('blob:')) watched.elsewhere.push(address);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) watched.messages.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => watched.errors.push(String(error)));
  page.on('dialog', (dialog) => {
    watched.errors.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${served.address}${fragment}`);
  return { page, watched, context, close: () => context.close() };
}

/** Waits for a guarantee, and tells its upper end. With `not`, waits until it is another one. */
export async function guarantee(page, not) {
  await page.waitForFunction(
    (before) => {
      const shown = document.querySelector('#guarantee')?.getAttribute('data-upper');
      return shown !== null && shown !== undefined && shown !== before && document.querySelector('.answer')?.getAttribute('aria-busy') === 'false';
    },
    not ?? '',
    { timeout: 30_000 },
  );
  const upper = await page.getAttribute('#guarantee', 'data-upper');
  return upper === 'none' ? null : Number(upper);
}

/** Asserts that a page did nothing that it should not. */
export function quiet(watched) {
  const wrong = [...watched.elsewhere.map((address) => `a request to ${address}`), ...watched.messages, ...watched.errors];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}
