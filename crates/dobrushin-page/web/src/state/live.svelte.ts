// The questions about the run that several views share.
import { aside, back, below, front } from '../engine/engine';
import { Question } from '../engine/asked.svelte';
import type { Finding, Guarantee, Sections } from '../engine/protocol';
import { value } from '../numbers/format';

/** How private the run is. */
export const answer = new Question<'account'>(front, 'answer');
/** The same with the floor, which may take longer. */
export const floor = new Question<'account'>(below, 'floor');
/** ε against a parameter: a few points first, then all of them. */
export const curve = new Question<'curve'>(back, 'curve');
/** What would help. */
export const advice = new Question<'account'>(aside, 'advice');

/** Analyses that take little time for every run. Each of their bounds is a guarantee, and the others can only improve it. */
const QUICK = ['composition', 'composition-renyi', 'contraction', 'shift', 'shift-renyi', 'ceiling', 'shift-subsampled'];
/** People notice a longer wait than this: then the quick analyses go first. */
const NOTICED = 250;
/** How long the last run took; the first may be any. */
let took = Infinity;

/** Asks how private a run is: where that takes a while, by the quick analyses first. */
export async function askAnswer(run: Sections): Promise<void> {
  if (took > NOTICED) {
    const first = await answer.ask({ ask: 'account', run, floor: false, only: QUICK });
    if (!first) return;
  }
  const began = performance.now();
  if (await answer.ask({ ask: 'account', run, floor: false })) took = performance.now() - began;
}

/** Plots wait for this long until the run stops changing. */
export const SETTLED = 300;

/** ε if δ was given, and δ if ε was. */
export const symbolOf = (target: { delta?: unknown }): 'ε' | 'δ' => (target.delta === undefined ? 'δ' : 'ε');

/** The bound of an analysis, whichever was asked for. */
export function boundOf(finding: { epsilon?: unknown; delta?: unknown }, symbol: 'ε' | 'δ'): number {
  const bounds = (symbol === 'ε' ? finding.epsilon : finding.delta) as { upper: number | 'Infinity' } | undefined;
  return value(bounds?.upper);
}

/** What composition says: that every iterate is published. */
export const compositionOf = (findings: Finding[]): Finding | undefined => findings.find((finding) => finding.id === 'composition');

/** Both ends of the guarantee. */
export function endsOf(guarantee: Guarantee, symbol: 'ε' | 'δ'): { lower: number; upper: number } {
  const bounds = (symbol === 'ε' ? guarantee.epsilon : guarantee.delta) as { lower: number; upper: number };
  return { lower: value(bounds.lower), upper: value(bounds.upper) };
}

/** What can be varied in a run: keys with a number, by their dotted names. */
export function variable(run: Sections): string[] {
  const found: string[] = [];
  for (const [section, keys] of Object.entries(run)) {
    const tables: [string, object][] = Array.isArray(keys)
      ? keys.map((table, index) => [`${section}.${index + 1}`, table])
      : [[section, keys]];
    for (const [name, table] of tables) {
      for (const [key, entry] of Object.entries(table)) {
        if (typeof entry === 'number' || (key === 'steps' && entry === 'any')) found.push(`${name}.${key}`);
      }
    }
  }
  const last = (key: string) => (key.startsWith('target.') || key.startsWith('domain.dim') ? 1 : 0);
  return found.sort((a, b) => last(a) - last(b));
}

/** The value of a dotted key of a run. */
export function valueAt(run: Sections, dotted: string): unknown {
  let here: unknown = run;
  for (const part of dotted.split('.')) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = Array.isArray(here) ? here[Number(part) - 1] : (here as { [key: string]: unknown })[part];
  }
  return here;
}
