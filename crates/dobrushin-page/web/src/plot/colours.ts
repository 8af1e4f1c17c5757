// The colours of a theme, for canvases, which do not know style sheets.

/** Reads colours from the style sheet: a class for each. */
export function colour(name: string): string {
  const probe = document.createElement('span');
  probe.className = `colour-${name}`;
  probe.hidden = true;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Lines are told apart by colour and by dashes. */
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4], [6, 2, 1, 2]];
export const PALETTE = 8;

export interface Look {
  name: string;
  dash: number[];
  width: number;
}

/** The look of a line: the guarantee and composition are always the same. */
export function lookOf(id: string, place: number): Look {
  if (id === 'guarantee') return { name: 'accent', dash: [], width: 3 };
  if (id === 'composition') return { name: 'ink', dash: [6, 4], width: 2 };
  return { name: `line-${place % PALETTE}`, dash: DASHES[(place + 1) % DASHES.length] ?? [], width: 1.5 };
}

/** A colour between light and strong, for heat maps: by class, so that both themes have their own. */
export const HEATS = 12;
