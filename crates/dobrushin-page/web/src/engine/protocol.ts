// What is asked of the program, and what it answers. The program is dobrushin, compiled to WebAssembly; its reports are those
// that the command line prints with --json.

/** A number of a report. JSON has no infinity, so that it is a word. */
export type Figure = number | 'Infinity' | '-Infinity';

/** Two ends that enclose a value. Only the upper end is ever a guarantee. */
export interface Bounds {
  lower: Figure;
  upper: Figure;
}

/** A value of a run file. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
/** A section of a run file, or a list of tables such as [[step]]. */
export type Section = { [key: string]: Value };
/** A run file: its sections by name. */
export type Sections = { [section: string]: Section | Section[] };

export interface Preset {
  id: string;
  title: string;
  about: string;
  toml: string;
}

export interface About {
  version: string;
  presets: Preset[];
  keys: { section: string; key: string; example: string }[];
  analyses: { id: string; title: string }[];
  parameters: string[];
}

export interface Answered {
  epsilon?: Bounds;
  delta?: Bounds;
  log_delta?: Bounds;
}

export interface Finding extends Answered {
  id: string;
  not_applicable?: string;
  approximate?: boolean;
}

export interface Guarantee {
  epsilon: Bounds | Figure;
  delta: Bounds | Figure;
  log_delta?: Bounds;
  analysis: string;
  assumptions: string[];
}

export type Asked = 'took-part' | 'which-value' | 'was-used' | 'were-ever-used' | 'which-data';

export interface Meaning {
  question: Asked;
  posterior_from_half: Bounds;
  delta: number;
  tpr_at_fpr: { fpr: number; tpr: Bounds }[];
  advantage: Bounds;
  one_more_in: number | null;
}

export interface Row extends Answered {
  from: number;
  to: number;
  analysis?: string;
}

export interface Pair extends Answered {
  owner: number;
  observer: number | 'public';
  hidden_steps: number;
  analysis?: string;
}

export interface Observers {
  owners: number;
  passes: number;
  local?: Answered;
  worst?: Pair;
  within?: { epsilon: number; exposed_to_next: number; share_of_later: number; share?: number };
  public: Row[];
  later: Row[];
  pairs: Pair[];
}

export type Given = { delta: Figure; epsilon?: undefined } | { epsilon: Figure; delta?: undefined };

export interface AccountReport {
  run: Sections;
  target: Given;
  guarantee: Guarantee | null;
  meaning: Meaning | null;
  analyses: Finding[];
  explanation: string[];
  warnings: string[];
  meets?: boolean;
  at_epsilon?: Answered & { epsilon: Figure };
  floor?: Answered & { instance: string };
  advice?: (Answered & { change: string; analysis: string })[];
  utility?: { [key: string]: Value };
  records?: Row[];
  observers?: Observers;
}

export interface CurveReport {
  over: { key: string; values: (number | string)[] }[];
  target: Given;
  analyses: { id: string; epsilon?: (Bounds | null)[]; delta?: (Bounds | null)[] }[];
  guarantee: (Bounds | null)[] | null;
  warnings: string[];
}

export interface CalibrationReport {
  parameter: string;
  value: Figure;
  analysis: string;
  evaluations: number;
  warnings: string[];
}

export interface PlanReport {
  epsilon: number;
  delta: number;
  plans: {
    run: Sections;
    excess: number;
    excess_error: number;
    guarantee: Guarantee;
    composition_only: { excess: number; excess_error: number; noise_multiplier: number } | null;
  }[];
}

export interface KernelReport {
  inputs: number;
  outputs: number;
  eta: { epsilon: Figure; value: Bounds; pair?: [number, number] }[];
  tv: Bounds;
  chi2: Bounds;
  kl: Bounds;
  epsilon_at_delta: { delta: number; epsilon: Bounds }[];
}

export interface VerificationReport {
  confirmed: boolean;
  holds: boolean;
  verdict: 'holds' | 'not-confirmed' | 'does-not-hold';
  differences: Value[];
  version: string;
}

/** What went wrong, in the words of the command line. */
export interface Problem {
  message: string;
  help?: string | null;
  causes?: string[];
  answer_is_no?: boolean;
}

export interface Topic {
  id: string;
  title: string;
}

/** A theorem, or an idea in plain words. */
export interface Explanation {
  id?: string;
  title: string;
  statement: string | string[];
  example?: string;
  formula?: string;
  applies_to?: string;
  assumptions?: string[];
  wins?: string[];
  proof?: string[];
  errata?: string[];
  source?: string;
  is_analysis?: boolean;
  numbers?: string[];
  see?: string[];
}

interface Told {
  text: string;
}

/** Questions by name, with their answers. */
export interface Answers {
  about: About;
  parse: { run: Sections; toml: string };
  account: Told & { report: AccountReport };
  curve: Told & { report: CurveReport };
  calibrate: Told & { report: CalibrationReport; run: string };
  plan: Told & { report: PlanReport; run: string };
  kernel: Told & { report: KernelReport };
  certificate: { certificate: string };
  verify: Told & { report: VerificationReport };
  explain: { text?: string; report?: Explanation; groups?: { title: string; topics: Topic[] }[] };
}

export type Name = keyof Answers;
export type Request<N extends Name = Name> = { ask: N; [field: string]: unknown };
export type Reply = { ok: unknown } | { error: Problem };
