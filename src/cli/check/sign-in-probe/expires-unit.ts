import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import type { ExpiresUnit } from '../../../bot/identity/oauth/token-life.ts';

export interface UnitGuess {
  unit: ExpiresUnit;
  /** The raw value and its possible meanings. Not a secret. */
  detail: string;
  /** Whether only one unit gives a plausible lifetime. */
  isSure: boolean;
}

/**
 * Plausible lifetimes of an access token. The bounds of SECURITY.md expiry-unit overlap, and values in the overlap are
 * ambiguous.
 */
const MIN_AS_SECONDS_MS = MINUTE_MS;
const MIN_AS_MILLISECONDS_MS = 5 * MINUTE_MS;
const MAX_MS = 30 * DAY_MS;

/**
 * Determines the unit of a raw `expires_in` (SECURITY.md expiry-unit): the one with a plausible lifetime, or `auto` if both
 * or neither are plausible.
 */
export function guessExpiresUnit(expiresIn: unknown): UnitGuess {
  const isDigits = typeof expiresIn === 'string' && /^\d{1,15}$/.test(expiresIn);
  const value = typeof expiresIn === 'number' || isDigits ? Number(expiresIn) : Number.NaN;
  if (!(value > 0) || !Number.isFinite(value)) {
    const what = expiresIn === undefined ? 'is missing' : `is not a number above 0 (${typeof expiresIn})`;
    return { unit: 'auto', detail: `expires_in ${what}; Parley assumes 5 minutes`, isSure: false };
  }
  const raw = `expires_in is ${value}${isDigits ? ', as a string' : ''}`;
  const asSeconds = value * SECOND_MS >= MIN_AS_SECONDS_MS && value * SECOND_MS <= MAX_MS;
  const asMilliseconds = value >= MIN_AS_MILLISECONDS_MS && value <= MAX_MS;
  const inWords = `${inTime(value * SECOND_MS)} as seconds, ${inTime(value)} as milliseconds`;
  if (asSeconds === asMilliseconds) return { unit: 'auto', detail: `${raw}: ${inWords}`, isSure: false };
  const unit = asSeconds ? 'seconds' : 'milliseconds';
  return { unit, detail: `${raw}: ${inTime(asSeconds ? value * SECOND_MS : value)} as ${unit}`, isSure: true };
}

function inTime(lifeMs: number): string {
  for (const [unitMs, name] of [
    [DAY_MS, 'days'],
    [HOUR_MS, 'hours'],
    [MINUTE_MS, 'minutes'],
  ] as const)
    if (lifeMs >= 2 * unitMs) return `${Math.round((lifeMs / unitMs) * 10) / 10} ${name}`;
  return `${Math.round(lifeMs / 100) / 10} seconds`;
}
