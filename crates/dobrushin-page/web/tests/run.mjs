// Runs every test of this folder in a real browser, against the folder PAGE and the program DOBRUSHIN.
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';
import { serve } from './server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const only = process.argv.slice(2);
/** A test that takes longer than this has failed. */
const PATIENCE = 100_000;
/** Two cores do not gain from more. */
const AT_ONCE = Number(process.env.AT_ONCE ?? 2);

const served = await serve(resolve(process.env.PAGE ?? join(here, '..', 'dist')));
const browser = await launch();
const queue = [];
for (const name of (await readdir(here)).filter((name) => name.endsWith('.test.mjs')).sort()) {
  const { default: claims, alone } = await import(pathToFileURL(join(here, name)).href);
  for (const [claim, test] of Object.entries(claims)) {
    if (only.length === 0 || only.some((word) => `${name} ${claim}`.includes(word))) queue.push({ claim, test, alone: alone === true });
  }
}

let passed = 0;
const failures = [];
async function check({ claim, test }) {
  const began = performance.now();
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('it takes too long')), PATIENCE)));
  try {
    await Promise.race([test({ browser, served }), late]);
    passed++;
    console.log(`ok    ${claim} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failures.push(claim);
    console.log(`FAIL  ${claim}\n      ${String(error?.stack ?? error).split('\n').slice(0, 12).join('\n      ')}`);
  } finally {
    clearTimeout(timer);
  }
}

// Times are measured alone, before the others.
for (const one of queue.filter((one) => one.alone)) await check(one);
const rest = queue.filter((one) => !one.alone);
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  for (let next = rest.shift(); next; next = rest.shift()) await check(next);
}));

await browser.close();
served.close();
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length > 0 ? 1 : 0);
