/** Page numbers at the end of a line: `17`, `4, 17–19`, `| 17 |`. */
const PAGES = /^\d{1,4}(?:[-–—~～]\d{1,4})?(?:[,，、;；]\d{1,4}(?:[-–—~～]\d{1,4})?){0,40}$/;
/** Characters of page numbers and of what surrounds them. */
const PAGE_SIGNS = new Set('0123456789-–—~～,，、;；| \t');
const LEADER = /[.…·・]\s?[.…·・]\s?[.…·・]\s?$/;
const LETTERS = /\p{L}\s?\p{L}/u;
const RULE = /^[\s|:-]*$/;
const MIN_ENTRIES = 6;
const MIN_ENTRY_SHARE = 0.6;
const MIN_LEADER_SHARE = 0.4;
const MIN_LIST_SHARE = 0.15;
const MIN_ASCENDING_SHARE = 0.9;
const MAX_LINES = 400;

/**
 * Whether a passage is a table of contents or an alphabetical index, in any language: most lines end with page numbers, which
 * have leaders, are lists, or ascend. Tables of data have other numbers.
 */
export function isPageList(text: string): boolean {
  const lines = text.split('\n', MAX_LINES).filter((line) => !RULE.test(line));
  const entries = lines.flatMap((line) => entryOf(line) ?? []);
  if (entries.length < MIN_ENTRIES || entries.length < lines.length * MIN_ENTRY_SHARE) return false;
  const shareOf = (count: number) => count / entries.length;
  if (shareOf(entries.filter(({ hasLeader }) => hasLeader).length) >= MIN_LEADER_SHARE) return true;
  if (shareOf(entries.filter(({ pages }) => /[,，、;；]/.test(pages)).length) >= MIN_LIST_SHARE) return true;
  const numbers = entries.map(({ pages }) => Number.parseInt(pages, 10));
  const ascending = numbers.filter((number, at) => at === 0 || number >= (numbers[at - 1] as number)).length;
  return new Set(numbers).size > entries.length / 2 && shareOf(ascending) >= MIN_ASCENDING_SHARE;
}

/** A line such as `Borrowing books ..... 17`, `Borrowing, 4, 17–19` or `| 借阅规则 | 17 |`. */
function entryOf(line: string): { pages: string; hasLeader: boolean } | undefined {
  let end = line.length;
  while (end > 0 && PAGE_SIGNS.has(line.charAt(end - 1))) end -= 1;
  const words = line.slice(0, end);
  const pages = line
    .slice(end)
    .replace(/[\s|]+/g, ' ')
    .replace(/ ?([-–—~～,，、;；]) ?/g, '$1')
    .replace(/^[ ,，、;；]+/, '')
    .trim();
  if (!LETTERS.test(words) || !PAGES.test(pages)) return undefined;
  // Otherwise the number belongs to a word, such as `CS101`.
  const isApart = !/[\p{L}.]$/u.test(words) || !/^\d/.test(line.slice(end)) || LEADER.test(words);
  return isApart ? { pages, hasLeader: LEADER.test(words) } : undefined;
}
