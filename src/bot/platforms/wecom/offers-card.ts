import type { ReplyActions } from '../../domain/reply.ts';
import { SLASH_SPELLINGS, type SlashCommandName } from '../../domain/slash-words.ts';
import { safePlainText } from './dialect.ts';

const ASKS = 3;
const OPENS_ADDRESS = 1;
/**
 * Number of characters that distinguish an answer's id from a person's other answers and are short enough to show in a chat.
 */
const SHORT_ID_CHARS = 8;

/**
 * Buttons of an answer, as a card below it (PLATFORM_FACTS.md wecom-offers). A tap sends the command word as a message of
 * the person who taps. It is therefore accepted once, its answer grows like any other, and no one can press for another
 * person.
 * @param cardUrl link of the card's body, which WeCom requires; without it there is no card
 */
export function offersCard(offers: ReplyActions | undefined, cardUrl: string | undefined): object | undefined {
  if (!offers || cardUrl === undefined) return undefined;
  const { heading, stop, retry, answer, language } = offers;
  const taps = [
    ...(stop === undefined ? [] : [tap(stop, word('stop', language))]),
    ...(retry === undefined ? [] : [tap(retry, `${word('retry', language)} ${answer.slice(0, SHORT_ID_CHARS)}`)]),
  ];
  if (taps.length === 0) return undefined;
  return {
    card_type: 'text_notice',
    main_title: { title: heading },
    jump_list: taps,
    card_action: { type: OPENS_ADDRESS, url: cardUrl },
  };
}

function tap(title: string, question: string): object {
  return { type: ASKS, title: safePlainText(title), question };
}

/** Includes the slash: a word with an argument but without a slash is a question. */
function word(name: SlashCommandName, language: ReplyActions['language']): string {
  const [english = '', chinese = ''] = SLASH_SPELLINGS[name];
  return language === 'zh' ? `/${chinese}` : english;
}
