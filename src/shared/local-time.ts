import { SECOND_MS } from './clock.ts';

/** Whether `Intl` knows this time zone, such as `Asia/Shanghai`. */
export function isTimeZone(name: string): boolean {
  try {
    // Some versions of `Intl` accept an offset such as +08:00, which is not an IANA name.
    return /^[A-Za-z]/.test(name) && Boolean(Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** The time zone of this process: `TZ`, else the machine's. */
export function processTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Local date and time in ISO 8601 form. */
export interface LocalTime {
  /** `2026-11-26` */
  date: string;
  /** `07:30:00` */
  time: string;
  /** In English. */
  weekday: string;
}

/**
 * The local date and time of an instant in a time zone. The newest result of a zone is kept: every answer needs the same one
 * several times, and formatting costs as much as encrypting it.
 */
export function localTime(atMs: number, timeZone: string): LocalTime {
  const second = Math.floor(atMs / SECOND_MS);
  const known = newest.get(timeZone);
  if (known?.second === second) return known.time;
  const time = formatTime(atMs, timeZone);
  if (newest.size < MAX_FORMATS || known) newest.set(timeZone, { second, time });
  return time;
}

const newest = new Map<string, { second: number; time: LocalTime }>();

function formatTime(atMs: number, timeZone: string): LocalTime {
  const parts = formatOf(timeZone).formatToParts(atMs);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  return {
    date: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}:${part('second')}`,
    weekday: part('weekday'),
  };
}

/** Creating a formatter costs a hundred times as much as using it; a deployment has one or two time zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const day = { year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'long' } as const;
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const format = new Intl.DateTimeFormat('en', { timeZone, calendar: 'gregory', ...day, ...time });
  if (formats.size < MAX_FORMATS) formats.set(timeZone, format);
  return format;
}

const MAX_FORMATS = 600;
