// What the keys of a run file are called, what they mean, and how they are set. The program has the list of keys; a key that is not
// described here still gets a control, with its example.
import type { About, Value } from '../engine/protocol';

export interface Choice {
  value: string;
  label: string;
}

export interface Described {
  section: string;
  key: string;
  label: string;
  /** What it is counted in. */
  unit?: string;
  help: string;
  kind: 'number' | 'count' | 'yes' | 'choice' | 'text';
  choices?: Choice[];
  /** The ends of a slider, on a logarithmic scale. */
  slider?: [number, number];
  /** Keys that say the same in another way: setting this one removes them. */
  instead?: string[];
  example: string;
  /** Words that a number may be replaced by. */
  words?: string[];
}

type Entry = Omit<Described, 'section' | 'key' | 'example'>;

const choice = (...pairs: [string, string][]): Choice[] => pairs.map(([value, label]) => ({ value, label }));

const NOISES = ['update.noise-multiplier', 'update.gradient-noise', 'update.iterate-noise'];
const others = (all: string[], one: string): string[] => all.filter((key) => key !== one);

const ENTRIES: Record<string, Entry> = {
  'run.algorithm': {
    label: 'Algorithm',
    kind: 'choice',
    help: 'What is iterated.',
    choices: choice(
      ['dp-sgd', 'DP-SGD: random batches, clipped gradients'],
      ['gradient-descent', 'Noisy gradient descent: all records'],
      ['pnsgd', 'PNSGD: records in turn'],
      ['online', 'Online: a stream of records'],
      ['chain', 'A chain of noisy steps'],
      ['composition', 'Mechanisms that release everything'],
    ),
  },
  'run.records': { label: 'Records', unit: 'people', kind: 'count', help: 'How many records the data set has.', slider: [100, 1e7] },
  'run.steps': {
    label: 'Steps',
    unit: 'steps',
    kind: 'count',
    help: 'How often the model is updated. “any” asks for a guarantee for every number of steps.',
    slider: [1, 1e5],
    words: ['any'],
    instead: ['run.epochs'],
  },
  'run.epochs': { label: 'Epochs', unit: 'passes', kind: 'number', help: 'How often the data are used, instead of the number of steps.', slider: [1, 1000], instead: ['run.steps'] },
  'run.batch-size': { label: 'Batch size', unit: 'records', kind: 'count', help: 'The number of records in a step; the expected number with Poisson batches.', slider: [1, 65536], instead: ['run.sampling-probability'] },
  'run.sampling-probability': { label: 'Sampling probability', kind: 'number', help: 'The probability with which a step uses a record, instead of the batch size.', slider: [1e-5, 1], instead: ['run.batch-size'] },
  'run.order': {
    label: 'Order of records',
    kind: 'choice',
    help: 'Which records a step uses. It must be what your data loader does.',
    choices: choice(
      ['poisson', 'Poisson: a coin toss for each record'],
      ['without-replacement', 'A fresh random batch of fixed size'],
      ['allocation', 'A random batch in every pass'],
      ['shuffled', 'Shuffled in every pass'],
      ['cyclic', 'Always the same order'],
      ['once', 'Each record once'],
      ['full', 'All records in every step'],
    ),
  },
  'run.incomplete-batch': {
    label: 'Incomplete batch',
    kind: 'choice',
    help: 'What happens to records that do not fill the last batch of a pass.',
    choices: choice(['drop', 'They are dropped'], ['short', 'They make a short batch'], ['pad', 'The batch is padded'], ['fill', 'The next pass fills it']),
  },
  'run.release': {
    label: 'What is released',
    kind: 'choice',
    help: 'Which iterates (models after a step) leave your hands. All others must stay secret.',
    choices: choice(['last', 'Only the last iterate'], ['random-stop', 'The iterate at a secret random time'], ['random-skip', 'The last one, after a random start'], ['all', 'All iterates']),
  },
  'run.neighbours': {
    label: 'Neighbours',
    kind: 'choice',
    help: 'Which two data sets must be hard to tell apart.',
    choices: choice(['replace-one', 'One record is replaced'], ['add-or-remove-one', 'One record is added or removed'], ['zero-out', 'One record’s part is left out']),
  },
  'run.record': { label: 'Whose protection', kind: 'count', help: '“worst”, or the place of one record, where each record has a place.', words: ['worst'] },
  'run.public-steps': { label: 'Public steps at the end', unit: 'steps', kind: 'count', help: 'Further steps that use public data only. They hide the private ones.', slider: [1, 1e4] },
  'run.tasks': { label: 'Runs on these records', unit: 'runs', kind: 'count', help: 'How many such runs are released.', slider: [1, 100] },
  'run.start-distance': { label: 'Distance of the starts', kind: 'number', help: 'How far apart the two starts are, if the run compares starts.' },
  'run.start-divergence': { label: 'Divergence of the starts', kind: 'number', help: 'How far apart the laws of the two starts are.' },
  'update.learning-rate': { label: 'Learning rate', unit: 'η', kind: 'number', help: 'A number, a list, or { "inverse-sqrt": 0.1 } for 0.1/√t.', slider: [1e-4, 10] },
  'update.clip-norm': { label: 'Clip norm', unit: 'C', kind: 'number', help: 'Each record’s gradient is clipped to this length.', slider: [0.01, 100], instead: ['update.lipschitz'] },
  'update.lipschitz': { label: 'Lipschitz constant', unit: 'L', kind: 'number', help: 'Gradients are never longer, without clipping.', slider: [0.01, 100], instead: ['update.clip-norm'] },
  'update.noise': { label: 'Kind of noise', kind: 'choice', help: 'Laplace noise is for one dimension.', choices: choice(['gaussian', 'Gaussian'], ['laplace', 'Laplace']) },
  'update.noise-multiplier': { label: 'Noise multiplier', unit: '× clip norm', kind: 'number', help: 'The noise on the sum of clipped gradients, over the clip norm, as in Opacus.', slider: [0.1, 500], instead: others(NOISES, NOISES[0] ?? '') },
  'update.gradient-noise': { label: 'Gradient noise', unit: 'σ', kind: 'number', help: 'The noise on the average gradient; the iterate gets η·σ.', slider: [0.01, 100], instead: others(NOISES, NOISES[1] ?? '') },
  'update.iterate-noise': { label: 'Iterate noise', unit: 's', kind: 'number', help: 'The noise on the iterate, as it is.', slider: [1e-4, 10], instead: others(NOISES, NOISES[2] ?? '') },
  'update.weight-decay': { label: 'Weight decay', unit: 'per step', kind: 'number', help: 'Every step multiplies the iterate by one minus this.', slider: [1e-5, 0.5] },
  'update.divide-by': { label: 'The sum is divided by', kind: 'choice', help: 'Dividing by the number that was drawn costs privacy.', choices: choice(['batch-size', 'The expected batch size'], ['actual', 'The number that was drawn']) },
  'loss.convex': { label: 'The loss is convex', kind: 'yes', help: 'Tick it only if it is true for every record.' },
  'loss.generalised-linear': { label: 'Generalised linear', kind: 'yes', help: 'The loss is ℓ(⟨w, x⟩, y), as in regression: clipping then keeps convexity.' },
  'loss.smoothness': { label: 'Smoothness', unit: 'β', kind: 'number', help: 'The Lipschitz constant of the gradient of each record’s loss.', slider: [1e-3, 100] },
  'loss.strong-convexity': { label: 'Strong convexity', unit: 'm', kind: 'number', help: 'Each record’s loss curves at least this much.', slider: [1e-5, 10] },
  'domain.diameter': { label: 'Diameter of the domain', kind: 'number', help: 'Every step projects the iterate to a convex set of this diameter. Leave it out if there is none.', slider: [1e-3, 1000], instead: ['domain.ball', 'domain.box', 'domain.simplex', 'domain.interval'] },
  'domain.dimension': { label: 'Dimension', unit: 'parameters', kind: 'count', help: 'How many parameters the model has.' },
  'domain.ball': { label: 'Ball', unit: 'radius', kind: 'number', help: 'The domain is a ball of this radius.', instead: ['domain.diameter', 'domain.box', 'domain.simplex', 'domain.interval'] },
  'domain.box': { label: 'Box', kind: 'text', help: 'The domain is a box, such as [-1.0, 1.0] in every coordinate.', instead: ['domain.diameter', 'domain.ball', 'domain.simplex', 'domain.interval'] },
  'domain.simplex': { label: 'Simplex', kind: 'number', help: 'The domain is a simplex of this size.', instead: ['domain.diameter', 'domain.ball', 'domain.box', 'domain.interval'] },
  'domain.interval': { label: 'Interval', kind: 'text', help: 'The domain is an interval, such as [0.0, 1.0].', instead: ['domain.diameter', 'domain.ball', 'domain.box', 'domain.simplex'] },
  'forget.records': { label: 'Records that are deleted', kind: 'count', help: 'How many records a request deletes; a list for several requests.' },
  'forget.steps': { label: 'Clean steps', unit: 'steps', kind: 'count', help: 'How many steps without these records follow.', slider: [1, 1e4] },
  'target.delta': { label: 'δ', kind: 'number', help: 'The promise of ε may fail with this probability. It must be far below one over the number of records.', slider: [1e-12, 1e-2] },
  'target.epsilon': { label: 'ε', kind: 'number', help: 'Alone, it asks for δ. With δ, it asks whether both are met.', slider: [0.01, 20] },
};

export const SECTIONS: { id: string; title: string; about: string }[] = [
  { id: 'run', title: 'The run', about: 'What was done.' },
  { id: 'update', title: 'Each update', about: 'How a step moves the model.' },
  { id: 'loss', title: 'The loss', about: 'Only what you know. Nothing is assumed.' },
  { id: 'domain', title: 'The domain', about: 'The set to which iterates are projected.' },
  { id: 'target', title: 'The target', about: 'What you ask for.' },
  { id: 'forget', title: 'Deleted records', about: 'Requests to delete records after training.' },
  { id: 'model', title: 'The model', about: 'What is trained, if the program trains it.' },
  { id: 'centre', title: 'Centre', about: 'A private centre of the columns.' },
  { id: 'evaluation', title: 'Evaluation', about: 'A private test of the model.' },
  { id: 'mechanism', title: 'Mechanisms', about: 'A list of tables: [[mechanism]].' },
  { id: 'step', title: 'Steps of a chain', about: 'A list of tables: [[step]].' },
  { id: 'task', title: 'Tasks', about: 'A list of tables: [[task]].' },
];

export const LISTS = ['mechanism', 'step', 'task'];

/** Choices of keys that are described only by their example. */
const generic = (section: string, key: string, example: string): Described => ({
  section,
  key,
  label: key,
  help: `As in ${example}.`,
  kind: /= (true|false)$/.test(example) ? 'yes' : /= -?[\d.e-]+$/.test(example) ? 'number' : 'text',
  example,
});

/** The controls of a section, in the order of the program. */
export function keysOf(about: About, section: string): Described[] {
  return about.keys
    .filter((entry) => entry.section === section)
    .map(({ key, example }) => {
      const entry = ENTRIES[`${section}.${key}`];
      return entry ? { section, key, example, ...entry } : generic(section, key, example);
    });
}

/** What a key is called, for titles. */
export function labelOf(key: string): string {
  const name = key.includes('.') ? key : (Object.keys(ENTRIES).find((entry) => entry.endsWith(`.${key}`)) ?? key);
  return ENTRIES[name]?.label ?? key;
}

export const entryOf = (key: string): Entry | undefined => ENTRIES[key];

/** The value that an example shows. */
export function exampleValue(example: string): Value {
  const text = example.slice(example.indexOf('=') + 1).trim();
  return readValue(text);
}

/** What somebody typed: JSON where it is JSON, otherwise a word. */
export function readValue(text: string): Value {
  const typed = text.trim();
  try {
    return JSON.parse(typed) as Value;
  } catch {
    const number = Number(typed.replace(/_/g, ''));
    return typed !== '' && Number.isFinite(number) ? number : typed;
  }
}

export const writeValue = (value: Value | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
