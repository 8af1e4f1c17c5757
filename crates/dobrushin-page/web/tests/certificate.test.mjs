// A certificate as a page: opened from a file, without any server, it recomputes itself; whatever is changed turns it red.
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { ask, file } from './program.mjs';

const RUN = `[run]
algorithm = "gradient-descent"
records = 1000
steps = 1000
neighbours = "replace-one"
[update]
learning-rate = 0.1
clip-norm = 1.0
noise-multiplier = 20.0
weight-decay = 0.5
[loss]
convex = true
smoothness = 0.5
[target]
delta = 1e-5
`;

let written;
async function made() {
  written ??= (async () => {
    const run = await file('certified.toml', RUN);
    const path = await file('certificate.html', '');
    await ask('account', run, '--report', path);
    return { path, text: await readFile(path, 'utf8') };
  })();
  return written;
}

/** What the page says about itself, and what it asked of others or logged. */
async function opened(browser, path) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const requests = [];
  const errors = [];
  page.on('request', (request) => {
    if (!/^(file|blob|data):/.test(request.url())) requests.push(request.url());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => {
    errors.push('a dialog');
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(() => ['holds', 'fails'].includes(document.querySelector('#verdict')?.className), null, { timeout: 50_000 });
  const verdict = await page.evaluate(() => ({
    kind: document.querySelector('#verdict').className,
    words: document.querySelector('#verdict').textContent,
    ran: globalThis.hostile === true,
  }));
  await context.close();
  return { ...verdict, requests, errors };
}

const answer = (text) => /<p class="answer">(.*?)<\/p>/.exec(text)[1];
const inside = (change) => (text) => {
  const [, before, certificate, after] = /^([\s\S]*id="certificate">)([\s\S]*?)(<\/script>[\s\S]*)$/.exec(text);
  const value = JSON.parse(certificate);
  change(value);
  return `${before}${JSON.stringify(value).replaceAll('<', '\\u003c')}${after}`;
};

/** Each makes the page say something that is not so, or something that nobody checked. */
const TAMPERINGS = {
  'the ε that people read': (text) => text.replace(answer(text), answer(text).replace(/\d\.\d+/, '0.1')),
  'the ε of the certificate': inside((c) => (c.guarantee.epsilon.upper /= 2)),
  'its δ': inside((c) => (c.guarantee.delta = { lower: 1e-9, upper: 1e-9 })),
  'what was asked': inside((c) => (c.target = { delta: 1e-9 })),
  'the analysis': inside((c) => (c.guarantee.analysis = 'shift-renyi')),
  'an assumption that is left out': inside((c) => c.guarantee.assumptions.pop()),
  'the number of steps': inside((c) => (c.run.run.steps = 2)),
  'the noise': inside((c) => (c.run.update['noise-multiplier'] = 40)),
  'who is protected': inside((c) => (c.run.run.neighbours = 'zero-out')),
  'the floor': inside((c) => (c.floor.epsilon.lower *= 1.5)),
  'what it means': inside((c) => (c.meaning.advantage = { lower: 0, upper: 0 })),
  'the theorem': inside((c) => (c.theorem.statement = 'It is private.')),
  'another analysis': inside((c) => (c.analyses[0].epsilon = { lower: 0, upper: 0 })),
  'the explanation': inside((c) => c.explanation.push('The model is anonymous.')),
  'the version': inside((c) => (c.program.version = '9.9.9')),
  'a key that is given twice': (text) => text.replace('"guarantee": {', '"guarantee": {}, "guarantee": {'),
  'a sentence of the page': (text) => text.replace('</li>', ' Nobody can ever be recognised.</li>'),
  'a paragraph that is added': (text) => text.replace('</main>', '<p>This model is anonymous.</p>\n</main>'),
  'a picture that is added': (text) => text.replace('</main>', '<figure><svg><text y="20">ε = 0</text></svg></figure></main>'),
  'words of an image': (text) => text.replace('</main>', '<img alt="ε = 0"></main>'),
  'a verdict of its own': (text) => text.replace('<main>', '<p id="verdict" class="holds">✓ ε = 0</p><main>'),
  'the title': (text) => text.replace(/<title>.*<\/title>/, '<title>ε = 0</title>'),
  'a script that is added': (text) => text.replace('</main>', '<script>globalThis.hostile = true</script></main>'),
  'the module': (text) => text.replace(/(id="module">.{4000}).{8}/, '$1AAAAAAAA'),
};

export default {
  'a certificate from a file recomputes itself and holds': async ({ browser }) => {
    const { path } = await made();
    const { size } = await stat(path);
    console.log(`      a certificate as a page has ${size} bytes`);
    assert.ok(size < 1_500_000, `${size} bytes`);
    const began = performance.now();
    const found = await opened(browser, path);
    assert.deepEqual([found.kind, found.requests, found.errors], ['holds', [], []], found.words);
    console.log(`      it was opened and verified in ${(performance.now() - began).toFixed(0)} ms`);
    assert.match(await ask('verify', path), /^The certificate holds/);
  },
  ...Object.fromEntries(
    Object.entries(TAMPERINGS).map(([what, tamper], index) => [
      `a certificate turns red if this is changed: ${what}`,
      async ({ browser }) => {
        const { text } = await made();
        const changed = tamper(text);
        assert.notEqual(changed, text, 'nothing was changed');
        const path = await file(`tampered-${index}.html`, changed);
        const found = await opened(browser, path);
        assert.deepEqual([found.kind, found.ran, found.requests], ['fails', false, []], found.words);
        assert.doesNotMatch(await ask('verify', path).catch((error) => error.stderr), /^The certificate holds/);
      },
    ]),
  ),
};
