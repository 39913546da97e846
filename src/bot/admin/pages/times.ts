import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/clock.ts';
import { localTime } from '../../../shared/local-time.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import type { Language } from '../../../shared/text/texts.ts';

/** Date and time in the institution's time zone. */
export function timeAt(atMs: number, timeZone: string): SafeHtml {
  const { date, time } = localTime(atMs, timeZone);
  return html`<time datetime="${new Date(atMs).toISOString()}">${date} ${time}</time>`;
}

const UNITS = {
  en: [' d', ' h', ' min', ' s'],
  zh: [' 天', ' 小时', ' 分钟', ' 秒'],
} as const;

/** The two greatest units of a duration, such as `3 min 20 s`. */
export function durationText(ms: number, language: Language): string {
  const steps = [DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS];
  const parts = steps.map((step, index) => {
    const before = steps[index - 1] ?? Number.POSITIVE_INFINITY;
    return { count: Math.floor((ms % before) / step), unit: UNITS[language][index] ?? '' };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  if (first === -1) return `0${UNITS[language][3]}`;
  const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0);
  return shown.map(({ count, unit }) => `${count}${unit}`).join(' ');
}

const FORMATS = { en: new Intl.NumberFormat('en'), zh: new Intl.NumberFormat('zh-CN') };
const FOUR_DECIMALS = { minimumFractionDigits: 4, maximumFractionDigits: 4 };
const AMOUNTS = {
  en: new Intl.NumberFormat('en', FOUR_DECIMALS),
  zh: new Intl.NumberFormat('zh-CN', FOUR_DECIMALS),
};

export function numberText(value: number, language: Language): string {
  return FORMATS[language].format(value);
}

/** An amount of money. Answers cost fractions of a cent, so four decimals. */
export function amountText(value: number, language: Language): string {
  return AMOUNTS[language].format(value);
}
