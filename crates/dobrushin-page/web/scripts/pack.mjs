// Packs a file as gzip, as small as zopfli can: node scripts/pack.mjs FROM TO
import zopfli from '@gfx/zopfli';
import { readFile, writeFile } from 'node:fs/promises';

const [from, to] = process.argv.slice(2);
await writeFile(to, await zopfli.gzipAsync(await readFile(from), { numiterations: 5 }));
