// What a guarantee means for one person, in words.
import type { AccountReport, Asked, Finding, Meaning } from '../engine/protocol';
import { atMost, percent, plain, rate, value } from './format';

const FOUND: Record<Asked, [string, string]> = {
  'took-part': ['it a coin toss whether a person took part', 'certain'],
  'was-used': ['it a coin toss whether a person’s record was used', 'certain'],
  'which-value': ['two values of a person’s record equally likely', 'certain of one'],
  'were-ever-used': ['it a coin toss whether the deleted records were ever used', 'certain'],
  'which-data': ['two neighbouring data sets equally likely', 'certain of one'],
};

/** A certainty from which on an attacker needs no more. */
const PRACTICALLY_CERTAIN = 0.9999;
/** There are not this many people. */
const BEYOND_MEASURE = 1e12;

/** A number as it was given, if that is short, or rounded up. */
const shortest = (number: number): string => (plain(number).length <= 8 ? plain(number) : atMost(number));

/** Sentences for somebody who has never heard of ε; the words are those of the program. */
export function sentences(meaning: Meaning): string[] {
  const [found, certain] = FOUND[meaning.question];
  const fails = meaning.delta > 0 ? `; with probability ${shortest(meaning.delta)} at most, that may fail` : '';
  const said = [`Somebody who knows all else, and found ${found}, becomes at most ${percent(meaning.posterior_from_half)} ${certain}${fails}.`];
  const wrongly = ['took-part', 'was-used'].includes(meaning.question) ? 'Accusing' : 'Suspecting';
  const deleted = meaning.question === 'were-ever-used';
  const whom = deleted ? 'the models that used them' : 'the people';
  const [first, ...others] = meaning.tpr_at_fpr;
  if (first) {
    const more = others.map((one) => `; at ${rate(one.fpr)}, at most ${percent(one.tpr)}`).join('');
    said.push(`${wrongly} ${rate(first.fpr)} wrongly, they recognise at most ${percent(first.tpr)} of ${whom}${more}.`);
  }
  const people = meaning.one_more_in;
  if (people === null) said.push(`Up to ${percent(meaning.advantage)} more of ${whom} would be recognised than by guessing.`);
  else if (people >= BEYOND_MEASURE) said.push('Nobody more would be recognised than by guessing.');
  else said.push(`At most one more in ${people} ${deleted ? 'such models' : 'people'} would be recognised than by guessing.`);
  if (value(meaning.posterior_from_half.upper) >= PRACTICALLY_CERTAIN) {
    said.push('They may be practically certain: by itself, this ε protects nobody.');
  }
  return said;
}

/** How certain an attacker becomes, in few words, and a level for its colour. What is good enough is for people to judge. */
export function certainty(meaning: Meaning | null): { words: string; level: 'strong' | 'medium' | 'weak' } {
  if (!meaning) return { words: 'this limits nothing', level: 'weak' };
  const upper = value(meaning.posterior_from_half.upper);
  const level = upper <= 0.75 ? 'strong' : upper <= 0.96 ? 'medium' : 'weak';
  return { words: `a guess of 50% becomes at most ${percent(meaning.posterior_from_half)} certain`, level };
}

/** The answer in one sentence, for screen readers. */
export function announcement(report: AccountReport): string {
  const { guarantee } = report;
  if (!guarantee) return 'There is no guarantee for this run.';
  const asked = report.target.delta !== undefined;
  const ends = (asked ? guarantee.epsilon : guarantee.delta) as { upper: number };
  return asked
    ? `Epsilon is at most ${atMost(ends.upper)} at delta ${plain(report.target.delta)}, by ${guarantee.analysis}.`
    : `Delta is at most ${atMost(ends.upper)} at epsilon ${plain(report.target.epsilon)}, by ${guarantee.analysis}.`;
}

/** Analyses that do not apply, by the reason: several may miss the same fact. */
export function missing(findings: Finding[]): { reason: string; ids: string[] }[] {
  const reasons = new Map<string, string[]>();
  for (const finding of findings) {
    if (finding.not_applicable === undefined) continue;
    reasons.set(finding.not_applicable, [...(reasons.get(finding.not_applicable) ?? []), finding.id]);
  }
  return [...reasons].map(([reason, ids]) => ({ reason, ids })).sort((a, b) => b.ids.length - a.ids.length);
}
