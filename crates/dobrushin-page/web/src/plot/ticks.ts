// Ticks on axes: decades on logarithmic axes, with 2 and 5 between where there is room.

export function logTicks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const steps = decades <= 1.3 ? [1, 2, 3, 5] : decades <= 3 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / 8));
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (steps.length === 1 && power % every !== 0) continue;
    for (const step of steps) {
      const tick = Number(`${step}e${power}`);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
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
