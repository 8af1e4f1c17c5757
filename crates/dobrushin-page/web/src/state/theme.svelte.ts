// Light or dark: as the system says, until somebody chooses.
type Theme = 'light' | 'dark';

const KEY = 'dobrushin-theme';

function remembered(): Theme | undefined {
  try {
    const word = localStorage.getItem(KEY);
    return word === 'light' || word === 'dark' ? word : undefined;
  } catch {
    return undefined;
  }
}

class ThemeChoice {
  chosen = $state<Theme | undefined>(remembered());
  private system = $state<Theme>('light');

  constructor() {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    this.system = dark.matches ? 'dark' : 'light';
    dark.addEventListener('change', () => (this.system = dark.matches ? 'dark' : 'light'));
  }

  get current(): Theme {
    return this.chosen ?? this.system;
  }

  toggle(): void {
    this.chosen = this.current === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(KEY, this.chosen);
    } catch {
      // It is forgotten with the page, then.
    }
  }
}

export const theme = new ThemeChoice();
