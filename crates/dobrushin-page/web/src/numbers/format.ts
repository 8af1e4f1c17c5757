// Numbers for people: rounded outward to four significant digits, so that what is read is still a bound.
import type { Bounds, Figure } from '../engine/protocol';

export const DIGITS = 4;

export function value(figure: Figure | null | undefined): number {
  if (figure === 'Infinity') return Infinity;
  if (figure === '-Infinity') return -Infinity;
  return figure ?? NaN;
}

/** The digits of a positive number that is rounded in one direction: 0.58131 up is 5814 · 10⁻⁴. */
function rounded(positive: number, up: boolean, digits: number): { digits: string; exponent: number } {
  const [mantissa = '0', power = '0'] = positive.toExponential(digits - 1).split('e');
  let exponent = Number(power);
  const nearest = Number(`${mantissa}e${power}`);
  let whole = BigInt(mantissa.replace('.', ''));
  if (up && nearest < positive) whole += 1n;
  if (!up && nearest > positive) whole -= 1n;
  let written = whole.toString();
  if (written.length > digits) exponent += 1;
  if (written.length < digits) {
    // 1000 down is 9999 one power lower.
    written = '9'.repeat(digits);
    exponent -= 1;
  }
  return { digits: written.slice(0, digits), exponent };
}

/** Writes digits · 10^exponent as people do: plain in the middle, with a power of ten at the ends. */
function written(digits: string, exponent: number): string {
  const short = digits.replace(/0+$/, '') || '0';
  if (exponent < -4 || exponent >= 7) {
    const tail = short.slice(1);
    return `${short[0]}${tail ? `.${tail}` : ''}e${exponent}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${short}`;
  const whole = short.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const tail = short.slice(exponent + 1);
  return tail ? `${whole}.${tail}` : whole;
}

function outward(number: number, up: boolean, digits: number): string {
  if (Number.isNaN(number)) return '–';
  if (number === Infinity) return '∞';
  if (number === -Infinity) return '−∞';
  if (number === 0) return '0';
  const negative = number < 0;
  const parts = rounded(Math.abs(number), negative ? !up : up, digits);
  return `${negative ? '−' : ''}${written(parts.digits, parts.exponent)}`;
}

/** An upper bound, rounded up. */
export const atMost = (figure: Figure | null | undefined, digits = DIGITS): string => outward(value(figure), true, digits);
/** A lower bound, rounded down. */
export const atLeast = (figure: Figure | null | undefined, digits = DIGITS): string => outward(value(figure), false, digits);

/** A number that somebody gave, with all its digits. */
export function plain(figure: Figure | null | undefined): string {
  const number = value(figure);
  if (!Number.isFinite(number)) return outward(number, true, DIGITS);
  const small = number !== 0 && Math.abs(number) < 1e-3;
  return (small ? number.toExponential() : String(number)).replace('e+', 'e').replace(/^-/, '−');
}

/** A probability in per cent, rounded up. The decimal point is moved after rounding, so that nothing is lost. */
export function percent(bounds: Bounds): string {
  const share = value(bounds.upper);
  if (!(share > 0 && share < 1)) return share >= 1 ? '100%' : '0%';
  const parts = rounded(share, true, DIGITS);
  return `${written(parts.digits, parts.exponent + 2)}%`;
}

/** A rate that somebody gave, in per cent. */
export const rate = (share: number): string => `${Number((100 * share).toPrecision(DIGITS))}%`;

/** Both ends with all digits. */
export const inFull = (bounds: Bounds): string => `between ${plain(bounds.lower)} and ${plain(bounds.upper)}`;

/** A whole number with thin spaces between thousands. */
export function count(whole: number): string {
  if (!Number.isFinite(whole)) return atMost(whole);
  return whole < 10_000 ? String(whole) : String(whole).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
