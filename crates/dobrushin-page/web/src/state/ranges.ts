// Which values a parameter is given in a plot.
import type { Sections } from '../engine/protocol';
import { entryOf } from '../run/keys';
import { valueAt, variable } from './live.svelte';

/** The length of a run: what plots vary unless somebody chooses otherwise. */
const LENGTHS = ['run.steps', 'run.epochs', 'run.records', 'step.1.count', 'mechanism.1.count'];

export function usualParameter(run: Sections): string {
  const names = variable(run);
  return LENGTHS.find((name) => names.includes(name)) ?? names[0] ?? 'run.steps';
}

/** A round number that is not below this one: 1, 2 or 5 times a power of ten. */
function roundUp(number: number): number {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((step) => step * power).find((round) => round >= number * (1 - 1e-12)) ?? number;
}

/** The ends between which a parameter is varied: around its value. */
export function usualRange(run: Sections, name: string): [number, number] {
  const given = valueAt(run, name);
  const counted = /steps|epochs|records|count|batch-size|tasks|dimension/.test(name);
  if (typeof given !== 'number' || !(given > 0)) return entryOf(name)?.slider ?? [1, 1e4];
  if (/\.(steps|epochs|count)$/.test(name)) return [1, Math.max(10, roundUp(given))];
  if (name === 'run.records') return [Math.max(10, Math.round(given / 100)), roundUp(given)];
  const [low, high] = [given / 8, given * 8];
  const tidy = (number: number) => Number(number.toPrecision(2));
  if (name.endsWith('probability')) return [tidy(low), Math.min(1, tidy(high))];
  return counted ? [Math.max(1, Math.round(low)), Math.round(high)] : [tidy(low), tidy(high)];
}

/** Points between two ends, evenly or by a factor; whole where only whole numbers make sense. */
export function between(from: number, to: number, points: number, log: boolean, whole: boolean): number[] {
  const at = (share: number) => (log && from > 0 && to > 0 ? from * (to / from) ** share : from + (to - from) * share);
  const all = Array.from({ length: points }, (_, index) => at(index / (points - 1)));
  // The program is given short numbers, so that the table and a link say the same.
  const short = all.map((number, index) => (index === 0 ? from : index === points - 1 ? to : whole ? Math.round(number) : Number(number.toPrecision(4))));
  return [...new Set(short)];
}

/** Whether only whole numbers make sense for a key. */
export const isWhole = (name: string): boolean => /\.(steps|records|batch-size|dimension|count|public-steps|tasks|record|sensitivity|categories)$/.test(name);
