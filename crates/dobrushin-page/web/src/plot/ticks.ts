// Ticks on axes: decades on logarithmic axes, with 2 and 5 between where there is room.

/** The steps within a decade, from dense to sparse; then whole decades, and every so many of them. */
const STEPS = [[1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];

function ticksBy(low: number, high: number, steps: number[], every: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every !== 0) continue;
    for (const step of steps) {
      const tick = Number(`${step}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** The densest ticks of which there are not more than this. */
export function logTicks(low: number, high: number, most = 9): number[] {
  for (const steps of STEPS) {
    const ticks = ticksBy(low, high, steps, 1);
    if (ticks.length <= most) return ticks;
  }
  return ticksBy(low, high, [1], Math.ceil(Math.log10(high / low) / Math.max(1, most - 1)));
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const power = (exponent: number): string =>
  `10${exponent < 0 ? '⁻' : ''}${[...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join('')}`;

/** A tick in few characters. */
export function tickLabel(tick: number): string {
  if (tick === 0) return '0';
  const exponent = Math.floor(Math.log10(Math.abs(tick)) + 1e-9);
  if (exponent >= -3 && exponent < 5) {
    const text = String(Number(tick.toPrecision(6)));
    return exponent === 4 ? text.replace(/(\d{3})$/, '\u202f$1') : text;
  }
  const lead = Number((tick / 10 ** exponent).toPrecision(3));
  return lead === 1 ? power(exponent) : `${lead}·${power(exponent)}`;
}
