import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';

/** The unit of the service's `expires_in`, which its specification leaves open. */
export type ExpiresUnit = 'seconds' | 'milliseconds' | 'auto';

const SHORTEST_MS = 60 * SECOND_MS;
const LONGEST_MS = DAY_MS;
const WHEN_MISSING_MS = 5 * MINUTE_MS;
/** In `auto`, a number is read as milliseconds only when that gives at least this long. */
const LEAST_AS_MILLISECONDS_MS = 5 * MINUTE_MS;

/** How long a token is taken to live, in milliseconds: a hint, the truth is a 401 (SECURITY.md expiry-unit). */
export function tokenLifeMs(expiresIn: unknown, unit: ExpiresUnit): number {
  const value = positiveNumber(expiresIn);
  if (value === undefined) return WHEN_MISSING_MS;
  const isMilliseconds = unit === 'auto' ? value >= LEAST_AS_MILLISECONDS_MS : unit === 'milliseconds';
  const lifeMs = isMilliseconds ? value : value * SECOND_MS;
  return Math.min(Math.max(lifeMs, SHORTEST_MS), LONGEST_MS);
}

/** How long after it was obtained a token is renewed: at 80 % of its life less up to 10 %, so that workers do not agree. */
export function refreshAfterMs(lifeMs: number, random: () => number = Math.random): number {
  return Math.floor(lifeMs * (0.8 - 0.1 * random()));
}

function positiveNumber(value: unknown): number | undefined {
  const isDigits = typeof value === 'string' && /^\d+$/.test(value);
  const number = typeof value === 'number' || isDigits ? Number(value) : Number.NaN;
  return Number.isFinite(number) && number > 0 ? number : undefined;
}
