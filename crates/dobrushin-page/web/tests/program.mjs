// The program itself, whose answers the page must repeat to the last digit.
import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROGRAM = process.env.DOBRUSHIN ?? 'dobrushin';
const run = promisify(execFile);
let folder;

/** Writes a file that the program can read. */
export async function file(name, text) {
  folder ??= await mkdtemp(join(tmpdir(), 'dobrushin-page-'));
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** What the program prints; an exit code of 1 is an answer as well. */
export async function ask(...words) {
  try {
    return (await run(PROGRAM, words, { maxBuffer: 1 << 28 })).stdout;
  } catch (error) {
    if (error.code === 1) return error.stdout;
    throw error;
  }
}

export const json = async (...words) => JSON.parse(await ask(...words, '--json'));

/** The message of an error, and what helps. */
export async function refused(...words) {
  try {
    await run(PROGRAM, [...words, '--json']);
  } catch (error) {
    return JSON.parse(error.stderr).error;
  }
  throw new Error(`${words.join(' ')} was not refused`);
}
