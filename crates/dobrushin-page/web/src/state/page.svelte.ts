// The state of the page: the run, the tab, and the settings of each view. Everything else follows from it.
import type { About, Section, Sections, Value } from '../engine/protocol';
import { fromFragment, toFragment, type Settings } from './address';

export const TABS = [
  { id: 'answer', title: 'Answer', ofRun: true },
  { id: 'what-if', title: 'What if', ofRun: true },
  { id: 'people', title: 'People', ofRun: true },
  { id: 'certificate', title: 'Certificate', ofRun: true },
  { id: 'channel', title: 'Channel', ofRun: false },
  { id: 'plan', title: 'Plan', ofRun: false },
  { id: 'learn', title: 'Learn', ofRun: false },
] as const;

export type TabId = (typeof TABS)[number]['id'];

const isTab = (word: string | undefined): word is TabId => TABS.some((tab) => tab.id === word);

/** An address is not written more often than this: browsers limit it. */
const WRITE_EVERY = 250;

class Page {
  run = $state<Sections>({});
  tab = $state<TabId>('answer');
  /** What the views remember, such as the parameter that is searched for; it goes into the address as well. */
  settings = $state<Settings>({});
  about = $state.raw<About | undefined>();
  /** Says what just happened, to screen readers as well. */
  notice = $state('');
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The run as plain data, for requests. */
  get plainRun(): Sections {
    return $state.snapshot(this.run as unknown) as Sections;
  }

  setting(name: string, otherwise: string): string {
    return this.settings[name] ?? otherwise;
  }

  /** Keeps a setting; the usual value is not kept, so that addresses stay short. */
  keep(name: string, word: string, usual?: string): void {
    if (word === usual) delete this.settings[name];
    else this.settings[name] = word;
  }

  value(section: string, key: string): Value | undefined {
    const keys = this.run[section];
    return keys && !Array.isArray(keys) ? keys[key] : undefined;
  }

  /** Sets a key of the run, or removes it; a section without keys disappears. */
  set(section: string, key: string, value: Value | undefined): void {
    const keys = this.run[section];
    if (Array.isArray(keys)) return;
    if (value !== undefined) {
      if (keys) keys[key] = value;
      else this.run[section] = { [key]: value };
    } else if (keys) {
      delete keys[key];
      if (Object.keys(keys).length === 0) delete this.run[section];
    }
  }

  setList(section: string, tables: Section[]): void {
    if (tables.length === 0) delete this.run[section];
    else this.run[section] = tables;
  }

  /** Reads the address; says whether it has a run. */
  read(fragment: string): boolean {
    const { settings, run } = fromFragment(fragment);
    const { tab, ...others } = settings;
    this.tab = isTab(tab) ? tab : 'answer';
    this.settings = others;
    if (run) this.run = run;
    return run !== undefined;
  }

  get fragment(): string {
    return toFragment({ tab: this.tab, ...this.settings }, this.plainRun);
  }

  /** Writes the address, soon. */
  write(fragment: string): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (location.hash !== fragment) history.replaceState(null, '', fragment);
    }, WRITE_EVERY);
  }
}

export const page = new Page();
