// Makes the pictures of the page in docs/figures, from the folder PAGE.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DESKTOP, guarantee, launch, open, PHONE } from '../tests/browser.mjs';
import { serve } from '../tests/server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, '../../../../docs/figures'));
const served = await serve(resolve(process.env.PAGE ?? join(here, '..', 'dist')));
const browser = await launch();

const still = (page) => page.waitForFunction(() => !document.querySelector('progress') && !document.querySelector('[aria-busy=true]'), null, { timeout: 60_000 });

async function shoot(name, { settle, ...options }) {
  const { page, close } = await open(browser, served, { deviceScaleFactor: 1.5, ...options });
  await settle(page);
  await page.waitForTimeout(800);
  await still(page);
  await page.screenshot({ path: join(out, `page-${name}.png`) });
  await close();
}

const answered = async (page) => {
  await guarantee(page);
  await page.locator('.band-label', { hasText: 'floor' }).waitFor({ timeout: 60_000 });
};

const plotted = async (page) => {
  await answered(page);
  await page.waitForFunction(() => document.querySelectorAll('.as-table tbody tr').length > 15, null, { timeout: 60_000 });
};

await shoot('answer', { fragment: '#preset=logistic-regression', size: { ...DESKTOP, height: 1700 }, settle: plotted });
await shoot('what-if', {
  fragment: '#tab=what-if&preset=noisy-gd',
  theme: 'dark',
  size: { ...DESKTOP, height: 1290 },
  settle: async (page) => {
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    await page.waitForSelector('#solved', { timeout: 60_000 });
    await page.waitForFunction(() => document.querySelectorAll('.heat tbody td[title]:not([title=""])').length === 144, null, { timeout: 60_000 });
  },
});
await shoot('phone', { fragment: '#preset=logistic-regression', size: PHONE, settle: answered });

await browser.close();
served.close();
process.exit();
