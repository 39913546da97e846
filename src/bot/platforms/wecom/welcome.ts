import type { Welcome } from '../platform.ts';
import { safePlainText } from './dialect.ts';
import { renderPlain } from './render-reply.ts';

const MAX_WELCOME_BYTES = 2_048;
/** Limits of a card (PLATFORM_FACTS.md wecom-events). */
const MAX_QUESTIONS = 3;
const MAX_QUESTION_BYTES = 200;
const ASKS = 3;
const OPENS_ADDRESS = 1;

/**
 * The answer to a person's first entry of the day. On a card, the questions can be tapped. Questions that do not fit the
 * card, or all questions if there is no card, become lines of the text.
 * @param cardUrl link of the card's body, which WeCom requires; without it there is no card
 */
export function welcomeReply(welcome: Welcome, cardUrl: string | undefined): object {
  const { botName, text, prompts } = welcome;
  const asked = prompts.map(({ title, message }) => ({
    title: safePlainText(title),
    question: safePlainText(message.replace(/\s+/g, (blanks) => (/[\r\n]/.test(blanks) ? ' ' : blanks))),
  }));
  const tapped = asked.filter(({ question }) => Buffer.byteLength(question) <= MAX_QUESTION_BYTES);
  const onCard = cardUrl === undefined ? [] : tapped.slice(0, MAX_QUESTIONS);
  const inText = asked.filter((one) => !onCard.includes(one)).map(({ question }) => question);
  const words = renderPlain(withLines(safePlainText(text), welcome.heading, inText), MAX_WELCOME_BYTES);
  if (onCard.length === 0) return { msgtype: 'text', text: { content: words } };
  return {
    msgtype: 'template_card',
    template_card: {
      card_type: 'text_notice',
      main_title: { title: safePlainText(botName) },
      sub_title_text: words,
      jump_list: onCard.map((one) => ({ type: ASKS, ...one })),
      card_action: { type: OPENS_ADDRESS, url: cardUrl },
    },
  };
}

/** Questions that do not fit completely are omitted. */
function withLines(text: string, heading: string, questions: readonly string[]): string {
  let written = text;
  let isFirst = true;
  for (const question of questions) {
    const next = `${written}${isFirst ? `\n\n${heading}` : ''}\n• ${question}`;
    if (Buffer.byteLength(next) > MAX_WELCOME_BYTES) continue;
    written = next;
    isFirst = false;
  }
  return written;
}
