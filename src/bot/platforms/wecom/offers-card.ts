import type { ReplyOffers } from '../../domain/reply.ts';
import { SLASH_SPELLINGS, type SlashWord } from '../../domain/slash-words.ts';
import { safePlainText } from './dialect.ts';

const ASKS = 3;
const OPENS_ADDRESS = 1;
/** So much of an answer's id tells it from a person's other ones, and can be read in a chat. */
const SHORT_ID_CHARS = 8;

/**
 * What may be pressed at an answer, as a card below it (PLATFORM_FACTS.md wecom-offers). A tap says the word as a message of whoever
 * taps: so it is accepted once, its answer grows like any other, and nobody can press for somebody else.
 * @param cardUrl where a tap on the card itself leads, which WeCom insists on; without one there is no card
 */
export function offersCard(offers: ReplyOffers | undefined, cardUrl: string | undefined): object | undefined {
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

/** With its slash: a word with something behind it is a question without. */
function word(name: SlashWord, language: ReplyOffers['language']): string {
  const [english = '', chinese = ''] = SLASH_SPELLINGS[name];
  return language === 'zh' ? `/${chinese}` : english;
}
