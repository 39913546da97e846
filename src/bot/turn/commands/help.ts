import type { Bilingual } from '../../../shared/text/texts.ts';
import { SLASH_SPELLINGS, type SlashCommandName } from '../../domain/slash-words.ts';
import { WORD_HELP, WORD_TEXTS } from '../../i18n/word-texts.ts';
import { translate } from '../translate.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

/** The type requires a help text for every command. */
const LINES: Readonly<Record<SlashCommandName, Bilingual>> = WORD_HELP;

/**
 * /help: all commands available here, in the person's language and in the syntax of the platform.
 * @param privateWords commands that are not listed in groups
 */
export function help(context: TurnContext, privateWords: ReadonlySet<SlashCommandName>): Outcome {
  const isGroup = context.newest.chat.kind === 'group';
  const words = (Object.keys(WORD_HELP) as SlashCommandName[])
    .filter((word) => !(isGroup && privateWords.has(word)))
    .map((word) => `- ${translate(context, lineOf(word))}`)
    .join('\n');
  return { kind: 'command', text: translate(context, WORD_TEXTS[isGroup ? 'helpGroup' : 'help'], { words }) };
}

function lineOf(word: SlashCommandName): Bilingual {
  const [english, chinese] = SLASH_SPELLINGS[word];
  return { en: `\`${english}\` ${LINES[word].en}`, zh: `\`${chinese}\` ${LINES[word].zh}` };
}
