import { DAY_MS } from '../../shared/clock.ts';
import type { Say } from './page-texts.ts';

/** How times are formatted: the browser's locale and, in tests, a fixed time zone. */
export interface TimeStyle {
  locale: string;
  timeZone?: string;
  say: Say;
}

function format(atMs: number, style: TimeStyle, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(style.locale, { ...options, timeZone: style.timeZone }).format(atMs);
}

/** A key that is equal for two instants exactly if they are on the same calendar day of the reader. */
export function dayKeyOf(atMs: number, style: TimeStyle): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: style.timeZone }).format(atMs);
}

/** Hour and minute in the reader's locale: 17:10 or 5:10 PM. */
export function clockTime(atMs: number, style: TimeStyle): string {
  return format(atMs, style, { timeStyle: 'short' });
}

/** Full date and time, for a tooltip. */
export function fullTime(atMs: number, style: TimeStyle): string {
  return format(atMs, style, { dateStyle: 'full', timeStyle: 'short' });
}

/** Label of a day separator: today, yesterday, or a weekday with its date, and the year if it is not the current one. */
export function dayLabel(atMs: number, nowMs: number, style: TimeStyle): string {
  const near = nearDay(atMs, nowMs, style);
  if (near !== undefined) return near;
  const sameYear = format(atMs, style, { year: 'numeric' }) === format(nowMs, style, { year: 'numeric' });
  const date: Intl.DateTimeFormatOptions = { month: 'long', day: 'numeric' };
  return format(atMs, style, sameYear ? { weekday: 'long', ...date } : { year: 'numeric', ...date });
}

/**
 * Short time of a conversation's last message: the time today, "Yesterday", a weekday within six days, otherwise the date.
 */
export function listTime(atMs: number, nowMs: number, style: TimeStyle): string {
  if (dayKeyOf(atMs, style) === dayKeyOf(nowMs, style)) return clockTime(atMs, style);
  const near = nearDay(atMs, nowMs, style);
  if (near !== undefined) return near;
  if (nowMs - atMs < 6 * DAY_MS && atMs < nowMs) return format(atMs, style, { weekday: 'short' });
  return format(atMs, style, { year: '2-digit', month: 'numeric', day: 'numeric' });
}

function nearDay(atMs: number, nowMs: number, style: TimeStyle): string | undefined {
  const key = dayKeyOf(atMs, style);
  if (key === dayKeyOf(nowMs, style)) return style.say('today');
  return key === dayKeyOf(nowMs - DAY_MS, style) ? style.say('yesterday') : undefined;
}
