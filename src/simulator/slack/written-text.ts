import type { PersonView } from '../api.ts';
import { BOT_USER_ID, memberIdOf, type Workspace } from './workspace.ts';

interface Names {
  directory: { people: readonly PersonView[] };
  bot: { name: string };
}

/**
 * Text of a person's message in Slack's format: three characters escaped, and `@Name` as a mention by id (PLATFORM_FACTS.md
 * slack-messages).
 */
export function writtenText(text: string, { directory, bot }: Names): string {
  const named = [
    { name: bot.name, id: BOT_USER_ID },
    ...directory.people.map((person) => ({ name: person.name, id: memberIdOf(person.id) })),
  ].sort((left, right) => right.name.length - left.name.length);
  const escaped = escapeSigns(text);
  // The name must end there: `@Parleyman` is another name. Han letters may follow directly.
  return named.reduce((shown, { name, id }) => {
    if (name === '') return shown;
    const mention = new RegExp(`@${quoted(escapeSigns(name))}(?![\\p{Script=Latin}\\p{Number}_-])`, 'gu');
    return shown.replace(mention, `<@${id}>`);
  }, escaped);
}

/** Text of a bot's message as Slack shows it: mentions by name, and channel-wide mentions by keyword. */
export function shownText(text: string, workspace: Workspace, botName: string): string {
  return text
    .replace(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g, (whole, id: string) => {
      const name = id === BOT_USER_ID ? botName : workspace.person(id)?.name;
      return name === undefined ? whole : `@${name}`;
    })
    .replace(/<!(channel|here|everyone)(?:\|[^<>]*)?>/g, '@$1');
}

/** Whether a text mentions the whole channel. */
export function callsEverybody(text: string): boolean {
  return /<!(channel|here|everyone)\b/.test(text);
}

/**
 * Parses the `text` of a message, which is Slack's own markup and not markdown: links, bold and strike, characters
 * unescaped.
 */
export function markdownOfMrkdwn(text: string): string {
  return text
    .replace(/<(https?:[^<>|\s]+)\|([^<>]*)>/g, '[$2]($1)')
    .replace(/<(https?:[^<>|\s]+)>/g, '$1')
    .replace(/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/g, '**$1**')
    .replace(/(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])/g, '~~$1~~')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function escapeSigns(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function quoted(words: string): string {
  return words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
