// The whole state in the fragment of the address, so that a link reproduces what is shown. A run is written key by key:
// #tab=answer&run.steps=1000&update.noise-multiplier=1.2. Whatever stands there is data and never becomes markup or a place to go.
import type { Section, Sections, Value } from '../engine/protocol';

/** Names of sections and keys. Names such as __proto__ are not among them. */
const NAME = /^[A-Za-z][A-Za-z0-9-]*$/;
const SAFE_KEY = /^(?!__proto__$)[^.=&]+$/;

/** Words that JSON would read as something else keep their quotes. */
function wordOf(value: Value): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

function valueOf(word: string): Value {
  try {
    return JSON.parse(word) as Value;
  } catch {
    return word;
  }
}

/** Characters that a fragment may have need no escapes; this keeps links readable. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A|2F|20|5B|5D|7B|7D|22|3D)/gi, (code) =>
    ({ '%2C': ',', '%3A': ':', '%2F': '/', '%20': '+', '%5B': '[', '%5D': ']', '%7B': '{', '%7D': '}', '%3D': '=' })[code.toUpperCase()] ?? code,
  );
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return text;
  }
}

/** The settings of a view, such as which parameter is searched for. */
export type Settings = { [name: string]: string };

export function toFragment(settings: Settings, run: Sections): string {
  const parts = Object.entries(settings).map(([name, word]) => `${name}=${escaped(word)}`);
  for (const [section, keys] of Object.entries(run)) {
    if (Array.isArray(keys)) {
      parts.push(`${section}[]=${escaped(JSON.stringify(keys))}`);
      continue;
    }
    for (const [key, value] of Object.entries(keys)) parts.push(`${section}.${escaped(key)}=${escaped(wordOf(value))}`);
  }
  return `#${parts.join('&')}`;
}

/** What a fragment says; there is no run if it has no key of one. */
export function fromFragment(fragment: string): { settings: Settings; run: Sections | undefined } {
  const settings: Settings = {};
  const run: Sections = {};
  for (const part of fragment.replace(/^#/, '').split('&')) {
    const middle = part.indexOf('=');
    if (middle < 1) continue;
    const [name, word] = [part.slice(0, middle), unescaped(part.slice(middle + 1))];
    const list = /^(.*)\[\]$/.exec(name)?.[1];
    const dot = name.indexOf('.');
    if (list !== undefined) {
      const tables = valueOf(word);
      if (NAME.test(list) && Array.isArray(tables)) run[list] = tables.filter(isSection);
    } else if (dot > 0) {
      const [section, key] = [name.slice(0, dot), unescaped(name.slice(dot + 1))];
      if (!NAME.test(section) || !SAFE_KEY.test(key)) continue;
      const keys = (Object.hasOwn(run, section) ? run[section] : (run[section] = {})) as Section;
      if (!Array.isArray(keys)) keys[key] = valueOf(word);
    } else if (NAME.test(name)) {
      settings[name] = word;
    }
  }
  return { settings, run: Object.keys(run).length > 0 ? run : undefined };
}

function isSection(value: Value): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
