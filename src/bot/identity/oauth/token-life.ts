import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** The unit of the service's `expires_in`, which the specification leaves open. */
export type ExpiresUnit = 'seconds' | 'milliseconds' | 'auto';

const MIN_MS = 60 * SECOND_MS;
const MAX_MS = DAY_MS;
const WHEN_MISSING_MS = 5 * MINUTE_MS;
/** With `auto`, a number is read as milliseconds only if the result is at least this long. */
const MIN_AS_MILLISECONDS_MS = 5 * MINUTE_MS;

/** The assumed lifetime of a token in milliseconds. Only a hint: a 401 is authoritative (SECURITY.md expiry-unit). */
export function tokenLifeMs(expiresIn: unknown, unit: ExpiresUnit): number {
  const value = positiveNumber(expiresIn);
  if (value === undefined) return WHEN_MISSING_MS;
  const isMilliseconds = unit === 'auto' ? value >= MIN_AS_MILLISECONDS_MS : unit === 'milliseconds';
  const lifeMs = isMilliseconds ? value : value * SECOND_MS;
  return Math.min(Math.max(lifeMs, MIN_MS), MAX_MS);
}

/**
 * Delay until a token is refreshed: 70 to 80 % of its lifetime, randomized so that workers do not refresh at the same time.
 */
export function refreshAfterMs(lifeMs: number, random: () => number = Math.random): number {
  return Math.floor(lifeMs * (0.8 - 0.1 * random()));
}

function positiveNumber(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^\d+$/.test(value);
  const number = typeof value === 'number' || isDigits ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
