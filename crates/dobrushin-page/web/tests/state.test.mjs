// What somebody set is never lost: files in and out, the address, every control, cancelling.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { guarantee, open, quiet } from './browser.mjs';
import { file, json } from './program.mjs';

const RUN = `[run]
algorithm = "pnsgd"
records = 500
order = "once"
release = "last"
neighbours = "replace-one"

[update]
learning-rate = { inverse-sqrt = 0.25 }
gradient-noise = 3.0
lipschitz = 1.0

[loss]
convex = true
smoothness = 1.0

[target]
delta = 1e-6
`;

async function openFile(page, toml) {
  await page.evaluate(() => (document.querySelector('.run-file').open = true));
  await page.getByLabel('Open a file').setInputFiles({ name: 'run.toml', mimeType: 'text/plain', buffer: Buffer.from(toml) });
}

const toml = (page) => page.inputValue('#run-toml');

async function selected(page, tab) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  await page.waitForFunction((name) => document.querySelector('[role=tab][aria-selected=true]')?.textContent === name, tab);
}

export default {
  'a file comes in and goes out unchanged': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served);
    const before = await guarantee(page);
    await openFile(page, RUN);
    const upper = await guarantee(page, String(before));
    assert.equal(upper, (await json('account', await file('imported.toml', RUN))).guarantee.epsilon.upper);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download run.toml' }).click();
    const exported = await readFile(await (await downloading).path(), 'utf8');
    assert.equal(exported, await toml(page));
    await openFile(page, exported);
    await page.getByText('The run is now that of the file').waitFor();
    assert.equal(await toml(page), exported, 'twice is the same');
    quiet(watched);
    await close();
  },

  'text that is pasted becomes the run': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served);
    const before = await guarantee(page);
    await page.evaluate(() => (document.querySelector('.run-file').open = true));
    await page.fill('#run-toml', RUN.replace('500', '50'));
    await page.getByRole('button', { name: 'Use this text' }).click();
    await guarantee(page, String(before));
    assert.equal(await page.inputValue('#run-records'), '50');
    await page.fill('#run-toml', 'this is = = no run');
    await page.getByRole('button', { name: 'Use this text' }).click();
    await page.getByText('This is not a run file').waitFor();
    assert.equal(await page.inputValue('#run-records'), '50', 'the run stays');
    quiet(watched);
    await close();
  },

  'a link reproduces everything': async ({ browser, served }) => {
    const first = await open(browser, served, { fragment: '#preset=noisy-gd' });
    const before = await guarantee(first.page);
    await first.page.fill('#run-steps', '77');
    await first.page.fill('#update-noise-multiplier', '11.5');
    const upper = await guarantee(first.page, String(before));
    await selected(first.page, 'What if');
    await first.page.locator('section', { hasText: 'Solve for one' }).getByRole('textbox', { name: 'ε' }).fill('0.4');
    await first.page.waitForFunction(() => location.hash.includes('wish=0.4') && location.hash.includes('update.noise-multiplier=11.5'));
    const address = await first.page.evaluate(() => location.hash);
    const file = await toml(first.page);
    await first.close();
    const second = await open(browser, served, { fragment: address });
    await second.page.waitForFunction(() => (document.querySelector('#run-toml')?.value ?? '').includes('77'));
    assert.equal(await toml(second.page), file);
    assert.equal(await second.page.locator('section', { hasText: 'Solve for one' }).getByRole('textbox', { name: 'ε' }).inputValue(), '0.4');
    await selected(second.page, 'Answer');
    assert.equal(await guarantee(second.page), upper);
    quiet(second.watched);
    await second.close();
  },

  'lists and lists of tables are in a link as well': async ({ browser, served }) => {
    const first = await open(browser, served, { fragment: '#preset=chain' });
    const upper = await guarantee(first.page);
    await first.page.waitForFunction(() => location.hash.includes('step[]='));
    const address = await first.page.evaluate(() => location.hash);
    const file = await toml(first.page);
    await first.close();
    const second = await open(browser, served, { fragment: address });
    assert.equal(await guarantee(second.page), upper);
    assert.equal(await toml(second.page), file);
    await second.close();
  },

  'every tab opens by mouse and by keyboard': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd' });
    await guarantee(page);
    const names = await page.getByRole('tab').allTextContents();
    for (const name of names) await selected(page, name);
    await page.getByRole('tab', { name: 'Learn' }).focus();
    for (const name of [...names].slice(0, 3)) {
      await page.keyboard.press('ArrowRight');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), name);
      assert.equal(await page.getAttribute('[role=tab][aria-selected=true]', 'tabindex'), '0');
    }
    await page.keyboard.press('End');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), names.at(-1));
    quiet(watched);
    await close();
  },

  'every key of a run file has a labelled control': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=chain' });
    await guarantee(page);
    await page.getByLabel('Show every key of a run file').check();
    const controls = await page.$$eval('.run .key', (all) => all.map((one) => {
      const control = one.querySelector('input:not([type=range]), select');
      return { label: control?.labels?.[0]?.textContent ?? '', help: document.getElementById(control?.getAttribute('aria-describedby'))?.textContent ?? '' };
    }));
    assert.ok(controls.length >= 60, `${controls.length} controls`);
    for (const { label, help } of controls) assert.ok(label.trim() && help.trim(), `${label}: ${help}`);
    quiet(watched);
    await close();
  },

  'controls change the run: choices, ticks, words, numbers, sliders, lists': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd' });
    await guarantee(page);
    const has = (text) => page.waitForFunction((wanted) => document.querySelector('#run-toml').value.includes(wanted), text);
    await page.selectOption('#run-release', 'all');
    await has('release = "all"');
    await page.uncheck('#loss-convex');
    await page.waitForFunction(() => !document.querySelector('#run-toml').value.includes('convex = true'));
    await page.getByRole('button', { name: 'any', exact: true }).first().click();
    await has('steps = "any"');
    await page.getByLabel('Noise multiplier, as a slider').focus();
    const before = await toml(page);
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((old) => document.querySelector('#run-toml').value !== old, before);
    await page.fill('#update-learning-rate', '{"inverse-sqrt": 0.1}');
    await has('inverse-sqrt = 0.1');
    await page.selectOption('#preset', 'chain');
    await page.getByRole('button', { name: 'Add another [[step]]' }).click();
    await page.waitForFunction(() => document.querySelector('#run-toml').value.split('[[step]]').length === 4);
    await page.getByText('[[step]] 3').first().click();
    await page.getByRole('button', { name: 'Remove [[step]] 3' }).click();
    await page.waitForFunction(() => document.querySelector('#run-toml').value.split('[[step]]').length === 3);
    quiet(watched);
    await close();
  },

  'lines can be hidden, axes changed, and the link knows it': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=pnsgd' });
    await page.locator('.legend-line').first().waitFor();
    await page.locator('.legend-line', { hasText: 'composition' }).first().getByRole('checkbox').uncheck();
    await page.getByLabel('Logarithmic upwards').uncheck();
    await page.waitForFunction(() => location.hash.includes('upwards=plain') && location.hash.includes('composition'));
    quiet(watched);
    await close();
  },

  'ideas, theorems and proofs can be read': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd' });
    await guarantee(page);
    await page.locator('.answer-at button').click();
    await page.getByRole('heading', { name: 'Shifting the difference into hidden noise, without loss' }).waitFor();
    await page.getByRole('heading', { name: 'Proof sketch' }).waitFor();
    await page.getByRole('button', { name: /^ε: how much a result can tell/ }).click();
    await page.getByRole('heading', { name: 'In numbers' }).waitFor();
    await page.locator('.live .plot').waitFor({ timeout: 30_000 });
    quiet(watched);
    await close();
  },

  'the theme can be chosen, and is remembered': async ({ browser, served }) => {
    const { page, close } = await open(browser, served);
    await page.getByRole('button', { name: 'Dark' }).click();
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.reload();
    await page.getByRole('button', { name: 'Light' }).waitFor();
    assert.equal(await paper(), dark);
    await close();
  },

  'a long answer can be stopped, and the page goes on': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=plan&records=30000&dimension=8' });
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('You stopped it.').waitFor();
    await selected(page, 'Channel');
    await page.waitForSelector('#channel-epsilon');
    quiet(watched);
    await close();
  },
};
