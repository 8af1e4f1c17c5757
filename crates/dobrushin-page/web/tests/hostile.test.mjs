// Nothing that comes from a file or a link becomes markup, a script, or a place to go.
import assert from 'node:assert/strict';
import { guarantee, open, quiet } from './browser.mjs';

const MARKUP = ['<img src=x onerror="document.title=\'hacked\'">', '</script><script>document.title="hacked"</script>', '<svg onload=document.title="hacked">'];

async function unharmed(page, watched) {
  assert.ok(!(await page.title()).includes('hacked'));
  assert.equal(await page.locator('img, iframe, object, embed').count(), 0);
  assert.equal(await page.locator('a[href^="javascript:" i]').count(), 0);
  quiet(watched);
}

export default {
  'a hostile run file is text': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#preset=noisy-gd' });
    await guarantee(page);
    for (const evil of MARKUP) {
      const text = JSON.stringify(evil);
      for (const toml of [
        `[run]\nalgorithm = ${text}\nrecords = 10\n`,
        `[run]\n${text} = 3\n`,
        `[${text}]\nx = 1\n`,
        `[run]\nalgorithm = "composition"\n[[mechanism]]\nkind = ${text}\n`,
        `[run]\nalgorithm = "dp-sgd"\nrecords = 10\n[model]\nkind = "logistic"\nschema = { columns = { ${text} = { kind = "category", categories = [${text}] } } }\n`,
      ]) {
        await page.evaluate(() => (document.querySelector('.run-file').open = true));
        await page.fill('#run-toml', toml);
        await page.getByRole('button', { name: 'Use this text' }).click();
        await page.waitForTimeout(60);
      }
    }
    await page.locator('.problem').first().waitFor();
    await unharmed(page, watched);
    await close();
  },

  'a hostile link is text': async ({ browser, served }) => {
    const fragments = [
      '#javascript:document.title="hacked"',
      `#tab=${encodeURIComponent(MARKUP[0])}&preset=${encodeURIComponent(MARKUP[1])}`,
      ...MARKUP.map((evil) => `#tab=answer&run.algorithm=${encodeURIComponent(evil)}&${encodeURIComponent(evil)}.x=1&run.${encodeURIComponent(evil)}=2`),
      `#tab=learn&topic=${encodeURIComponent(MARKUP[0])}&example=${encodeURIComponent(MARKUP[2])}`,
      `#tab=channel&channel=${encodeURIComponent(MARKUP[0])}`,
      '#__proto__.polluted=1&constructor.polluted=1&run.__proto__=%7B%22polluted%22:1%7D&step[]=[{"__proto__":{"polluted":1}}]',
      '#tab=what-if&x=constructor&y=__proto__&cells=1e9&xfrom=-1&xto=NaN&preset=noisy-gd',
      '#run.records=%E0%A4%A&&&===&.=&[]=3',
    ];
    for (const fragment of fragments) {
      const { page, watched, close } = await open(browser, served, { fragment });
      await page.locator('#panel').waitFor();
      await page.waitForTimeout(150);
      assert.equal(await page.evaluate(() => ({}).polluted), undefined, fragment);
      await unharmed(page, watched);
      await close();
    }
  },

  'a hostile certificate is text': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=certificate&preset=noisy-gd' });
    await page.getByRole('button', { name: 'Make the certificate' }).click();
    await page.waitForSelector('#certificate-text');
    const good = JSON.parse(await page.inputValue('#certificate-text'));
    await page.getByText('Paste one').click();
    for (const evil of MARKUP) {
      for (const change of [
        (one) => (one.guarantee.analysis = evil),
        (one) => (one.guarantee.assumptions[0] = evil),
        (one) => (one[evil] = evil),
        (one) => (one.version = evil),
        (one) => (one.run.run.algorithm = evil),
      ]) {
        const bad = structuredClone(good);
        change(bad);
        await page.fill('#certificate-paste', JSON.stringify(bad));
        await page.getByRole('button', { name: 'Verify the text' }).click();
        await page.locator('#verdict.bad').waitFor();
      }
    }
    await page.getByLabel('Open a certificate').setInputFiles({ name: `${MARKUP[0].replaceAll('/', '')}.json`, mimeType: 'application/json', buffer: Buffer.from('{}') });
    await page.locator('#verdict.bad').waitFor();
    await unharmed(page, watched);
    await close();
  },

  'a hostile schema is text': async ({ browser, served }) => {
    const { page, watched, close } = await open(browser, served, { fragment: '#tab=plan' });
    await page.getByText('Use a schema instead').click();
    for (const evil of MARKUP) {
      await page.fill('#plan-schema', `[columns.${JSON.stringify(evil)}]\nkind = ${JSON.stringify(evil)}\n`);
      await page.getByRole('button', { name: 'Plan', exact: true }).click();
      await page.locator('.problem').waitFor();
    }
    await unharmed(page, watched);
    await close();
  },
};
