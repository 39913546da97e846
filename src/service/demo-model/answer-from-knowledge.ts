import { randomBytes } from 'node:crypto';
import { localize, type Language } from '../../shared/text/texts.ts';
import { calledName, textOf, type ChatMessage } from '../chat/chat-message.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';
import { contentWordsOf, wordsOf } from './words.ts';

/** Name of the tool that searches an institution's documents. */
const KNOWLEDGE_SEARCH = 'knowledge_search';
/** First line of a numbered result. The lines below it are quoted. */
const RESULT = /(?<![^\n])\[(\d{1,3})\] [^\n]*\n((?:>[^\n]*(?:\n|$))+)/g;
const HEADING = /^#{1,6}\s+/;
/** Minimum share of the question's words that a passage must contain to count as an answer. */
const MIN_SHARE = 0.4;
/** If a document says the same in two languages, the user's language is quoted. */
const OTHER_LANGUAGE_WEIGHT = 0.5;
const MAX_CHARS = 600;
/** Chinese question words. Character pairs across them occur in no document. */
const ASKING =
  /请问|我们|我|你|可以|能不能|能否|能|多少|什么时候|什么|怎么办|怎么样|怎么|怎样|如何|哪里|哪个|哪些|几点|几|是|的|了|吗|呢|要|在|有/g;

/** A passage of a result, with its citation number. */
interface Passage {
  number: number;
  text: string;
  share: number;
}

/** Whether the institution's documents can be searched. */
export function offersKnowledge({ tools, toolChoice }: ChatRequest): boolean {
  return toolChoice !== 'none' && tools.some(({ name }) => name === KNOWLEDGE_SEARCH);
}

/** The call that searches the institution's documents; undefined if they cannot be searched. */
export function searchKnowledge(request: ChatRequest, { text, language }: Question): Finding | undefined {
  if (!offersKnowledge(request) || contentWordsOf(text).length === 0) return undefined;
  const query = [...text].slice(0, 400).join('');
  const call = {
    id: `call_${randomBytes(12).toString('hex')}`,
    type: 'function' as const,
    function: { name: KNOWLEDGE_SEARCH, arguments: JSON.stringify({ query }) },
  };
  return { toolCalls: [call], thought: localize(BUILT_IN_TEXTS.thoughtTool, language, { name: KNOWLEDGE_SEARCH }) };
}

/** Whether the last tool call was a search of the institution's documents. */
export function isFromKnowledge(messages: ChatMessage[]): boolean {
  const start = messages.findLastIndex(({ role }) => role !== 'tool');
  const calls = messages[start]?.tool_calls ?? [];
  return calls.length > 0 && calls.every((call) => calledName(call) === KNOWLEDGE_SEARCH);
}

/** Answer if neither the documents nor our pages contain anything. */
export function nothingInKnowledge({ language }: Question): Finding {
  return {
    text: localize(BUILT_IN_TEXTS.nothingFound, language),
    thought: localize(BUILT_IN_TEXTS.thoughtNothing, language),
  };
}

/** Quotes the passage of the newest results that best fits the question, with its number; undefined if none fits. */
export function answerFromKnowledge(messages: ChatMessage[], { text, language }: Question): Finding | undefined {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const asked = new Set(contentWordsOf(text.replace(ASKING, ' ')));
  const passages = messages.slice(start).flatMap((message) => passagesIn(textOf(message), asked, language));
  const [best] = passages.sort((left, right) => right.share - left.share);
  if (!best || best.share < MIN_SHARE) return undefined;
  const excerpt = [...best.text].slice(0, MAX_CHARS).join('');
  return {
    text: localize(BUILT_IN_TEXTS.fromKnowledge, language, { excerpt, number: best.number }),
    thought: localize(BUILT_IN_TEXTS.thoughtKnowledge, language, { count: passages.length }),
  };
}

function passagesIn(results: string, asked: ReadonlySet<string>, language: Language): Passage[] {
  return [...results.matchAll(RESULT)].flatMap(([, number, quoted = '']) => {
    const passages: Passage[] = [];
    let headings: string[] = [];
    for (const block of quoted.replace(/^> ?/gm, '').split(/\n\s*\n/)) {
      const text = block.trim();
      if (HEADING.test(text) && !text.includes('\n')) {
        headings = [...headings.slice(-1), text.replace(HEADING, '')];
        continue;
      }
      if (text === '') continue;
      passages.push({
        number: Number(number),
        text,
        share: shareOf(`${headings.join('\n')}\n${text}`, asked, language),
      });
    }
    return passages;
  });
}

/** Share of the question's words that a passage contains. */
function shareOf(passage: string, asked: ReadonlySet<string>, language: Language): number {
  const held = new Set(wordsOf(passage));
  const share = [...asked].filter((word) => held.has(word)).length / Math.max(1, asked.size);
  const isChinese = /\p{Script=Han}/u.test(passage);
  return isChinese === (language === 'zh') ? share : OTHER_LANGUAGE_WEIGHT * share;
}
