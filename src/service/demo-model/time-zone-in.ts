const ZONE = /\b(?:[A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z_+-]+)+|UTC|GMT)\b/;
/** Cities that name a time zone, in lower case, such as `new york` for `America/New_York`. */
const ZONE_BY_CITY = new Map(
  Intl.supportedValuesOf('timeZone').map((zone) => [
    (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ').toLowerCase(),
    zone,
  ]),
);
const ZONE_BY_CHINESE_CITY: readonly (readonly [city: RegExp, zone: string])[] = [
  [/北京|上海|广州|深圳|杭州/, 'Asia/Shanghai'],
  [/香港/, 'Asia/Hong_Kong'],
  [/台北/, 'Asia/Taipei'],
  [/新加坡/, 'Asia/Singapore'],
  [/东京/, 'Asia/Tokyo'],
  [/伦敦/, 'Europe/London'],
  [/巴黎/, 'Europe/Paris'],
  [/柏林/, 'Europe/Berlin'],
  [/莫斯科/, 'Europe/Moscow'],
  [/纽约/, 'America/New_York'],
  [/洛杉矶/, 'America/Los_Angeles'],
  [/悉尼/, 'Australia/Sydney'],
];
const MAX_WORDS = 3;

/** The IANA time zone that a question names, directly or by a city; undefined if there is none. */
export function timeZoneIn(question: string): string | undefined {
  const named = ZONE.exec(question)?.[0];
  if (named !== undefined) return named;
  const chinese = ZONE_BY_CHINESE_CITY.find(([city]) => city.test(question))?.[1];
  if (chinese !== undefined) return chinese;
  // `beijing` has no IANA zone, but people ask for it.
  if (/\b(?:beijing|china)\b/i.test(question)) return 'Asia/Shanghai';
  const words = question.toLowerCase().match(/[\p{L}'-]+/gu) ?? [];
  for (let length = MAX_WORDS; length > 0; length -= 1)
    for (let start = 0; start + length <= words.length; start += 1) {
      const zone = ZONE_BY_CITY.get(words.slice(start, start + length).join(' '));
      if (zone !== undefined) return zone;
    }
  return undefined;
}
