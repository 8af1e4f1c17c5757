// The page says what the program says, to the last digit.
import assert from 'node:assert/strict';
import { guarantee, open, quiet } from './browser.mjs';
import { ask, file, json, refused } from './program.mjs';

const number = (figure) => (figure === 'Infinity' ? Infinity : Number(figure));
/** A written number of the page: 1e-5, −∞. */
const read = (text) => (text === '∞' ? Infinity : Number(text.replace('−', '-')));
const upperOf = (title) => read(/ and (\S+)$/.exec(title)[1]);

/** The presets, from the program in the page. */
export async function presets(page) {
  await page.waitForSelector('#preset option[value="noisy-gd"]', { state: 'attached' });
  return page.$$eval('#preset option', (options) => options.map((option) => option.value).filter(Boolean));
}

async function fileOf(page, name) {
  await page.waitForFunction(() => (document.querySelector('#run-toml')?.value ?? '').includes('[run]'));
  return file(`${name}.toml`, await page.inputValue('#run-toml'));
}

async function presetSaysTheSame({ browser, served }, id) {
  const { page, watched, close } = await open(browser, served, { fragment: `#preset=${id}` });
  const upper = await guarantee(page);
  const path = await fileOf(page, id);
  const report = await json('account', path);
  const asked = report.target.delta === undefined ? 'delta' : 'epsilon';
  assert.equal(upper, report.guarantee === null ? null : number(report.guarantee[asked].upper));
  const rows = await page.$$eval('.analyses tbody tr', (all) => all.map((row) => [row.querySelector('th button').textContent, row.cells[2].title]));
  const expected = report.analyses.filter((one) => one[asked]);
  assert.equal(rows.length, expected.length, 'as many analyses apply');
  for (const [name, title] of rows) {
    assert.equal(upperOf(title), number(expected.find((one) => one.id === name)[asked].upper), `${id}: ${name}`);
  }
  if (report.floor && report.guarantee) {
    const digits = () => page.$$eval('.digits dt', (terms) => terms.find((term) => term.textContent === 'floor')?.nextElementSibling.textContent);
    await page.waitForFunction(() => [...document.querySelectorAll('.digits dt')].some((term) => term.textContent === 'floor'), null, { timeout: 40_000 });
    assert.equal(read(await digits()), number(report.floor[asked].lower), `the floor of ${id}`);
  }
  quiet(watched);
  await close();
}

const IDS = ['opacus', 'logistic-regression', 'fine-tuned-head', 'noisy-gd', 'allocation', 'federated', 'pnsgd', 'owners', 'random-stop', 'starts-apart', 'public-tail', 'forget', 'chain', 'mechanisms'];

const ofPresets = Object.fromEntries(IDS.map((id) => [`preset ${id} says what the program says`, (given) => presetSaysTheSame(given, id)]));

export default {
  ...ofPresets,

  'every preset is among those that are tested': async ({ browser, served }) => {
    const { page, close } = await open(browser, served);
    assert.deepEqual(await presets(page), IDS);
    await close();
  },

  'a curve is that of the program': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd&over=run.steps&from=1&to=1000' });
    await page.waitForFunction(() => document.querySelectorAll('.as-table tbody tr').length > 15);
    await page.getByText('The same as a table').first().click();
    const rows = await page.$$eval('.as-table tbody tr', (all) => all.map((row) => [row.cells[0].textContent, row.cells[1].title]));
    const found = await json('curve', await fileOf(page, 'curve'), '--over', `run.steps=${rows.map(([steps]) => steps).join(',')}`);
    assert.deepEqual(rows.map(([, title]) => upperOf(title)), found.guarantee.map((one) => number(one.upper)));
    quiet(watched);
    await close();
  },

  'what is solved for is what the program finds, and can be used': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=what-if&preset=noisy-gd&wish=0.75&cells=2' });
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    const solved = Number(await page.getAttribute('#solved', 'data-value', { timeout: 30_000 }));
    const found = await json('calibrate', await fileOf(page, 'solve'), '--parameter', 'noise-multiplier', '--epsilon', '0.75');
    assert.equal(solved, found.value);
    await page.getByRole('button', { name: 'Use it in my run' }).click();
    assert.equal(await guarantee(page), number(found.epsilon.upper));
    assert.equal(await page.inputValue('#update-noise-multiplier'), String(solved));
    quiet(watched);
    await close();
  },

  'a target in terms of an attacker is solved for': async ({ browser, served }) => {
    const { page, close } = await open(browser, served, { fragment: '#tab=what-if&preset=noisy-gd&by=rates&tpr=0.03&fpr=0.01&cells=2' });
    await page.getByRole('button', { name: 'Solve', exact: true }).click();
    const solved = Number(await page.getAttribute('#solved', 'data-value', { timeout: 30_000 }));
    const found = await json('calibrate', await fileOf(page, 'rates'), '--parameter', 'noise-multiplier', '--tpr', '0.03', '--fpr', '0.01');
    assert.equal(solved, found.value);
    await close();
  },

  'a map over two parameters is that of the program': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=what-if&preset=noisy-gd&x=run.steps&y=update.noise-multiplier&xfrom=1&xto=100&yfrom=5&yto=40&cells=3' });
    await page.waitForFunction(() => [...document.querySelectorAll('.heat tbody td')].filter((cell) => cell.title).length === 9, null, { timeout: 30_000 });
    const cells = await page.$$eval('.heat tbody tr', (all) => all.map((row) => [...row.cells].slice(1).map((cell) => cell.title)));
    const at = async (selector) => page.$$eval(selector, (all) => all.map((one) => one.textContent));
    const noise = await at('.heat tbody th');
    const steps = (await at('.heat thead th')).slice(1);
    const found = await json('curve', await fileOf(page, 'map'), '--over', `run.steps=${steps}`, '--over', `update.noise-multiplier=${noise}`);
    assert.deepEqual(cells.map((row) => row.map(upperOf)), noise.map((_, row) => steps.map((_, column) => number(found.guarantee[column][row].upper))));
    // A cell can be used by keyboard.
    await page.locator('.heat svg[tabindex]').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    assert.equal(await page.inputValue('#run-steps'), steps[1]);
    quiet(watched);
    await close();
  },

  'places and observers are those of the program': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=people&preset=owners' });
    await page.fill('#run-records', '20');
    await page.waitForFunction(() => document.querySelectorAll('.panel .as-table').length === 3 && /1$/.test(document.querySelector('.legend-x') ? '1' : ''), null, { timeout: 30_000 });
    const path = await fileOf(page, 'owners');
    const report = await json('account', path, '--observers', '--per-record');
    await page.waitForFunction((pairs) => document.querySelectorAll('.panel .as-table')[2].querySelectorAll('tbody tr').length === pairs, report.observers.pairs.length);
    const places = await page.locator('.panel .as-table').first().locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.cells[1].title));
    const expected = report.records.toReversed?.() ?? [...report.records].reverse();
    const uppers = expected.flatMap((row) => Array(row.from === row.to ? 1 : 2).fill(number(row.epsilon.upper)));
    assert.deepEqual(places.map(upperOf), uppers);
    quiet(watched);
    await close();
  },

  'a run without places says why': async ({ browser, served }) => {
    const { page, close } = await open(browser, served, { fragment: '#tab=people&preset=noisy-gd' });
    await page.getByText('Places are not told apart here').waitFor();
    await page.getByText('There are no observers here').waitFor();
    await close();
  },

  'a channel costs what the program says': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=channel' });
    const channel = '0.6, 0.3, 0.1\n0.2, 0.5, 0.3\n0.25, 0.25, 0.5';
    await page.fill('#channel', channel);
    const found = await json('kernel', await file('channel.csv', `${channel}\n`), '--epsilon', '0', '--delta', '0');
    await page.waitForFunction((upper) => Number(document.querySelector('#channel-epsilon')?.getAttribute('data-upper')) === upper, number(found.epsilon_at_delta[0].epsilon.upper));
    await page.fill('#channel', '0.6, 0.3\n0.2, <img src=x onerror=alert(1)>');
    await page.getByText('not a number').waitFor();
    quiet(watched);
    await close();
  },

  'a plan is that of the program, and becomes the run': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=plan&records=50&plan-epsilon=5&plan-delta=1e-3&dimension=1&plan-order=cyclic&plan-model=logistic' });
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    const told = json('plan', '--records', '50', '--epsilon', '5', '--delta', '1e-3', '--dimension', '1', '--classes', '2', '--order', 'cyclic', '--model', 'logistic');
    const found = await told;
    await page.getByRole('button', { name: 'Make the first one my run' }).click({ timeout: 90_000 });
    assert.equal(await guarantee(page), number(found.plans[0].guarantee.epsilon.upper));
    quiet(watched);
    await close();
  },

  'a certificate is that of the program, and is verified': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=certificate&preset=noisy-gd' });
    await page.getByRole('button', { name: 'Make the certificate' }).click();
    await page.waitForSelector('#certificate-text');
    const text = await page.inputValue('#certificate-text');
    const path = await fileOf(page, 'certified');
    const written = JSON.parse(text);
    assert.equal(JSON.parse(await ask('verify', await file('page.json', text), '--json')).confirmed, true, 'the program confirms it');
    assert.equal(written.guarantee.epsilon.upper, (await json('account', path)).guarantee.epsilon.upper);
    const input = page.getByLabel('Open a certificate');
    await input.setInputFiles({ name: 'good.json', mimeType: 'application/json', buffer: Buffer.from(text) });
    await page.getByText('The certificate holds: good.json').waitFor();
    assert.ok(await page.locator('#verdict.good').count());
    const smaller = text.replaceAll(String(written.guarantee.epsilon.upper), '0.5').replaceAll(String(written.guarantee.epsilon.lower), '0.5');
    await input.setInputFiles({ name: 'bad.json', mimeType: 'application/json', buffer: Buffer.from(smaller) });
    await page.getByText('The certificate does not hold: bad.json').waitFor();
    assert.ok(await page.locator('#verdict.bad').count());
    quiet(watched);
    await close();
  },

  'errors are the program’s own, and the state is kept': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd' });
    const before = await guarantee(page);
    await page.fill('#update-noise-multiplier', '-3');
    await page.getByText('This run cannot be accounted for').waitFor();
    const path = await fileOf(page, 'wrong');
    const error = await refused('account', await file('wrong.toml', (await import('node:fs')).readFileSync(path, 'utf8').replace(/noise-multiplier = .*/, 'noise-multiplier = -3')));
    assert.ok((await page.locator('.problem').first().innerText()).includes(error.message), error.message);
    assert.equal(Number(await page.getAttribute('#guarantee', 'data-upper')), before, 'the last answer stays');
    assert.equal(await page.inputValue('#run-steps'), '1000', 'and so does everything else');
    assert.equal(await page.getAttribute('#update-noise-multiplier', 'aria-invalid'), 'true');
    await page.fill('#update-noise-multiplier', '20');
    await page.waitForFunction(() => !document.querySelector('.problem'));
    quiet(watched);
    await close();
  },
};
