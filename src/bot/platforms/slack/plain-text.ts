const ENTITIES = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
]);
const MENTION = /<@([A-Z0-9]+)(?:\|[^<>]*)?>/g;
/** A mention of a person, a user group or a whole channel; a date has the same prefix. */
const CALL = /<@|<!(?!date)/;
const REFERENCE = /<([#!@])([^<>|]*)(?:\|([^<>]*))?>/g;
/** Maximum references of one message that are looked up. */
const MAX_UNNAMED = 20;
const UNNAMED_ID = /^(?:subteam\^)?[A-Z][A-Z0-9]{1,40}$/;
const LINK = /<([^<>|\s]+)(?:\|([^<>]*))?>/g;
/** Recognises an address. Checked only after the brackets have been matched, to keep the search linear. */
const IS_ADDRESS = /[^][:@][^]/;

/**
 * Text of a message without Slack's escapes: `<url|label>` as shown, entities as characters, references by name
 * (PLATFORM_FACTS.md slack-messages). A lone surrogate becomes the replacement character here, once.
 */
export function plainText(text: string): string {
  const shown = text
    .replace(LINK, (whole, address: string, label: string | undefined) =>
      IS_ADDRESS.test(address) ? shownLink(address, label) : whole,
    )
    .replace(REFERENCE, (_whole, sign: string, id: string, label: string | undefined) => reference(sign, id, label))
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES.get(entity) ?? entity);
  return Buffer.from(shown).toString();
}

/**
 * Whether the bot is mentioned, and the text without its mentions; mentions of other people stay.
 * @param ownIds the bot's ids in the event; if empty, the first mention counts as the bot's
 */
export function mentionOf(text: string, ownIds: readonly string[]): { isMentioned: boolean; text: string } {
  let isMentioned = false;
  const without = text.replace(MENTION, (whole, id: string) => {
    const isOwn = ownIds.length === 0 ? !isMentioned : ownIds.includes(id);
    if (!isOwn) return whole;
    isMentioned = true;
    return ' ';
  });
  return { isMentioned, text: without.replace(/[ \t]{2,}/g, ' ').trim() };
}

/** The references that `plainText` writes as ids, in the same form: `@U1`, `#C1`. */
export function unnamedIn(text: string): string[] {
  if (!text.includes('<')) return [];
  const found = [...text.matchAll(REFERENCE)].flatMap(([, sign = '', id = '', label]) => {
    const isNamed = label !== undefined && label !== '';
    return isNamed || !UNNAMED_ID.test(id) ? [] : [reference(sign, id, label)];
  });
  return [...new Set(found)].slice(0, MAX_UNNAMED);
}

/** Whether a text mentions a person, a user group or a whole channel. */
export function hasMention(text: string): boolean {
  return CALL.test(text);
}

function shownLink(address: string, label: string | undefined): string {
  const plain = address.replace(/^mailto:/, '');
  return label === undefined || label === address || label === plain ? plain : `${label} (${plain})`;
}

function reference(sign: string, id: string, label: string | undefined): string {
  // Slack leaves the label of a private channel empty.
  const name = label === '' ? undefined : label;
  if (sign !== '!') return name?.startsWith(sign) === true ? name : `${sign}${name ?? id}`;
  const seconds = /^date\^(\d{1,12})\^/.exec(id)?.[1];
  if (name === undefined && seconds !== undefined) return dayOf(Number(seconds));
  return name ?? `@${id.replace(/^subteam\^/, '')}`;
}

/** A date without a fallback text. */
function dayOf(seconds: number): string {
  const at = new Date(seconds * 1_000);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 16).replace('T', ' ');
}
