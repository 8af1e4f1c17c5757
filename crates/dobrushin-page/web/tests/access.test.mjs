// Everybody can use the page: axe finds nothing, in both themes, on a phone and on a desk; nothing is wider than a small phone.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { DESKTOP, guarantee, open, PHONE, quiet } from './browser.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TABS = ['Answer', 'What if', 'People', 'Certificate', 'Channel', 'Plan', 'Learn'];
const SERIOUS = ['moderate', 'serious', 'critical'];

async function clean(page, where) {
  const violations = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations);
  const bad = violations.filter((one) => SERIOUS.includes(one.impact));
  const said = bad.map((one) => `${one.id} (${one.impact}): ${one.help}\n  ${one.nodes.slice(0, 3).map((node) => `${node.target}: ${node.failureSummary}`).join('\n  ')}`);
  assert.equal(bad.length, 0, `${where}\n${said.join('\n')}`);
}

async function visit(browser, served, size, theme) {
  const { page, watched, close } = await open(browser, served, { fragment: '#preset=owners&run.records=20', size, theme });
  await page.selectOption('#preset', 'pnsgd');
  await page.locator('.legend-line').first().waitFor({ timeout: 30_000 });
  await page.evaluate(axe);
  for (const tab of TABS) {
    await page.getByRole('tab', { name: tab, exact: true }).click();
    await page.waitForTimeout(tab === 'Channel' || tab === 'Learn' ? 700 : 400);
    await clean(page, `${tab}, ${theme}, ${size.width} wide`);
  }
  // With an error, and with every control.
  await page.getByRole('tab', { name: 'Answer', exact: true }).click();
  if (size.width < 900) await page.getByRole('button', { name: 'Change the run' }).click();
  await page.getByLabel('Show every key of a run file').check();
  await page.fill('#update-gradient-noise', '-1');
  await page.locator('.problem').first().waitFor();
  await clean(page, `an error, ${theme}, ${size.width} wide`);
  quiet(watched);
  await close();
}

const combinations = [[DESKTOP, 'light'], [DESKTOP, 'dark'], [PHONE, 'light'], [PHONE, 'dark']];

export default {
  ...Object.fromEntries(combinations.map(([size, theme]) => [
    `axe finds nothing at ${size.width} × ${size.height}, ${theme}`,
    ({ browser, served }) => visit(browser, served, size, theme),
  ])),

  'nothing is wider than a phone of 320': async ({ browser, served }) => {
    const { page, close } = await open(browser, served, { fragment: '#preset=pnsgd', size: { width: 320, height: 640 } });
    await guarantee(page);
    for (const tab of TABS) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      await page.waitForTimeout(300);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320, tab);
    }
    await close();
  },

  'the first stops of the keyboard are the skip link, the actions and the tabs, and focus is visible': async ({ browser, served }) => {
    const { page, close } = await open(browser, served, { fragment: '#preset=pnsgd' });
    await guarantee(page);
    const stops = [];
    for (let stop = 0; stop < 5; stop++) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(() => document.activeElement?.textContent?.trim()));
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(outline, 'none', stops.at(-1));
    }
    assert.deepEqual(stops.slice(0, 4), ['Skip to the answer', 'Copy a link', 'Dark', 'Answer']);
    await close();
  },

  'a new answer is announced': async ({ browser, served }) => {
    const { page, close } = await open(browser, served, { fragment: '#preset=pnsgd' });
    const before = await guarantee(page);
    await page.fill('#update-gradient-noise', '3.7');
    await guarantee(page, String(before));
    const said = await page.textContent('.for-readers[aria-live=polite]');
    assert.match(said ?? '', /^Epsilon is at most [\d.]+ at delta 1e-5, by \S+\.$/);
    await close();
  },
};
