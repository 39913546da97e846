import { randomBytes } from 'node:crypto';
import { localize, type Language } from '../../shared/text/texts.ts';
import { calledName, textOf, type ChatMessage } from '../chat/chat-message.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';
import { wordStem } from './words.ts';
import { DescribedText, queriesFor, whatIsAsked, type Asked } from './everyday-words.ts';

/** Name of the tool that searches an institution's documents. */
const KNOWLEDGE_SEARCH = 'knowledge_search';
/** A numbered result: its number, its title, and the quoted lines below. */
const RESULT = /(?<![^\n])\[(\d{1,3})\] ([^\n]*)\n((?:>[^\n]*(?:\n|$))+)/g;
/** The search says of a group that a private chat may offer more. */
const SUGGESTS_PRIVATE = /(?<![^\n])(?!>)[^\n]{0,400}suggest to ask there/;
const HEADING = /^#{1,6}\s+/;
/** The term that a line explains, such as `Winter break: 23 January`; also the cells of a table's first row. */
const LABEL = /(?<![^\n])[^\n:：|]{1,40}(?=[:：])|(?<!\n)\|[^\n]*/g;
/** Minimum share of the question's subjects that a passage must name. */
const MIN_SHARE = 0.6;
/** If a document says the same in two languages, the user's language is quoted. */
const OTHER_LANGUAGE_WEIGHT = 0.5;
/** Of passages that name the same subjects, the one whose own text names more of them is quoted. */
const OWN_WEIGHT = 0.01;
const MAX_CHARS = 600;
/** Questions that only a passage with a number answers. */
const ASKS_NUMBER =
  /\b(?:when|how (?:much|many|long|often)|what time|which (?:day|room))\b|多少|几|多久|多长时间|什么时候|何时/i;
/** Questions for a date or a time, which a passage about a single subject can answer. */
const ASKS_WHEN = /\b(?:when|what time|how late|deadline)\b|什么时候|何时|哪几?天|几[月号日]|几点|截止|最晚/i;
/** A number in digits or words. */
const HAS_NUMBER = /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten)\b|[一两三四五六七八九十][天台个次条张]/i;
/** Questions for what to do about a subject, which are no questions for a detail of it. */
const ASKS_WHAT_TO_DO =
  /\bwhat (?:now|happens|(?:do|should|must|can) i (?:have to |need to )?do(?! (?:in|during|on|at|with)\b))\b|\bwhom? (?:do|should|must|can) i (?:tell|inform|ring|call|contact)\b/i;
/** The beginning of a sentence names its topic. */
const OPENING = /(?<=^|[\n。；;.!?] ?)(?:[a-z'-]{1,20}(?: [a-z'-]{1,20})?|\p{Script=Han}{1,4})/giu;
/** Questions for a period, and texts that state one. */
const ASKS_PERIOD =
  /\bhow (?:long|often|frequently|soon|early|far ahead)\b|\bhow much (?:annual |sick |paid )?(?:leave|vacation|holiday|time)\b|多久|多长时间|几号/i;
const PERIOD =
  /\d ?(?:minute|hour|day|week|month|year)|\d ?(?:分钟|小时|天|周|个月|年)|\b(?:two|three) (?:working )?days\b|[两三]天|\d (?:to \d+ )?[A-Z][a-z]{2,8}\b/;
/** Questions for a number of things. The thing must follow a number in the passage. */
const ASKS_COUNT = /\bhow many (\p{L}{2,40})(?: (\p{L}{3,40}))?|(?<!哪)(?:几|多少)个?([本册天台条间位人次张年周])/iu;
const COUNTED = /(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten)) ((?:[a-z-]{1,20} ){0,2}[a-z-]{1,20})/gi;
const COUNTED_IN_CHINESE = /[\d两三四五六七八九十] ?([本册天台条间位人次张年周])|一(次)/g;
/** Other questions that a passage does not answer only because it is about their single subject. */
const ASKS_MORE =
  /\b(?:who|whom|whose|where|why|what|which|is|are|does|how (?:much|many|long|often))\b|谁|哪|为什么|为何|是什么|什么是|多少|多久|几|吗/i;

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

/** The calls that search the institution's documents; undefined if they cannot be searched. */
export function searchKnowledge(request: ChatRequest, { text, language }: Question): Finding | undefined {
  const queries = offersKnowledge(request) ? queriesFor(text) : [];
  if (queries.length === 0) return undefined;
  const toolCalls = queries.map((query) => ({
    id: `call_${randomBytes(12).toString('hex')}`,
    type: 'function' as const,
    function: { name: KNOWLEDGE_SEARCH, arguments: JSON.stringify({ query }) },
  }));
  return { toolCalls, thought: localize(BUILT_IN_TEXTS.thoughtTool, language, { name: KNOWLEDGE_SEARCH }) };
}

/** Whether the last tool call was a search of the institution's documents. */
export function isFromKnowledge(messages: ChatMessage[]): boolean {
  const start = messages.findLastIndex(({ role }) => role !== 'tool');
  const calls = messages[start]?.tool_calls ?? [];
  return calls.length > 0 && calls.every((call) => calledName(call) === KNOWLEDGE_SEARCH);
}

/** Says that a small demo model answers, because no passage does. */
export function nothingInKnowledge(messages: ChatMessage[], { language }: Question): Finding {
  const isInGroup = SUGGESTS_PRIVATE.test(textOf(messages.at(-1) as ChatMessage));
  return {
    text: localize(BUILT_IN_TEXTS[isInGroup ? 'notInGroupDocuments' : 'notInDocuments'], language),
    thought: localize(BUILT_IN_TEXTS.thoughtNoPassage, language),
  };
}

/** Quotes the passage of the newest results that answers the question, with its number; undefined if none does. */
export function answerFromKnowledge(messages: ChatMessage[], { text, language }: Question): Finding | undefined {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  const asked = whatIsAsked(text);
  const passages = messages.slice(start).flatMap((message) => passagesIn(textOf(message)));
  const answers = passages.flatMap(({ title, headings, text: said, number }): Passage[] => {
    const share = shareOf({ title, headings, said }, text, asked);
    return share < MIN_SHARE ? [] : [{ number, text: said, share: share * weightOf(said, language) }];
  });
  const [best] = answers.sort((left, right) => right.share - left.share);
  if (!best) return undefined;
  const excerpt = [...best.text].slice(0, MAX_CHARS).join('');
  return {
    text: localize(BUILT_IN_TEXTS.fromKnowledge, language, { excerpt, number: best.number }),
    thought: localize(BUILT_IN_TEXTS.thoughtKnowledge, language, { count: passages.length }),
  };
}

interface FoundPassage {
  number: number;
  title: string;
  headings: readonly string[];
  text: string;
}

function passagesIn(results: string): FoundPassage[] {
  return [...results.matchAll(RESULT)].flatMap(([, number, title = '', quoted = '']) => {
    const passages: FoundPassage[] = [];
    let headings: string[] = [];
    for (const block of quoted.replace(/^> ?/gm, '').split(/\n\s*\n/)) {
      const text = block.trim();
      if (HEADING.test(text) && !text.includes('\n')) {
        headings = [...headings.slice(-1), text.replace(HEADING, '')];
        continue;
      }
      if (text !== '') passages.push({ number: Number(number), title, headings, text });
    }
    return passages;
  });
}

/**
 * Share of the question's subjects that a passage names; 0 if the passage cannot be the answer. It must name all aspects
 * that are asked for, such as the price, and be about a subject of the question instead of only mentioning it.
 */
function shareOf(
  { title, headings, said }: { title: string; headings: readonly string[]; said: string },
  question: string,
  asked: Asked,
): number {
  const { subjects, aspects } = asked;
  const section = headings.at(-1) ?? '';
  const labels = said.match(LABEL)?.join('\n') ?? '';
  const whole = new DescribedText([title, ...headings, said].join('\n'));
  const topics = said.match(OPENING)?.join('\n') ?? '';
  const topic = new DescribedText([title, ...headings, labels, topics].join('\n'));
  const own = new DescribedText(`${section}\n${said}`);
  const named = subjects.filter((subject) => whole.has(subject));
  if (!named.some((subject) => topic.has(subject)) || !named.some((subject) => own.has(subject))) return 0;
  if (!aspects.every((aspect) => whole.has(aspect))) return 0;
  if (ASKS_NUMBER.test(question) && !HAS_NUMBER.test(said)) return 0;
  const quantity = statesQuantity(question, said);
  if (quantity === false) return 0;
  const share = named.length / subjects.length;
  // A section about something else, such as lost books, must at least name everything that is asked for.
  const isElsewhere = new DescribedText(section).otherSubjects(asked).length > 0;
  const isNarrow = subjects.length + aspects.length === 1;
  const asksMore =
    ASKS_MORE.test(question.replace(ASKS_WHAT_TO_DO, '')) && !ASKS_WHEN.test(question) && quantity !== true;
  const ownShare = subjects.filter((subject) => own.has(subject)).length / subjects.length;
  return (isElsewhere && share < 1) || (isNarrow && (asksMore || isElsewhere)) ? 0 : share + OWN_WEIGHT * ownShare;
}

/** Whether a passage states the number or the period that a question asks for; undefined if it asks for neither. */
function statesQuantity(question: string, said: string): boolean | undefined {
  const [, unit, next = '', measure] = ASKS_COUNT.exec(question) ?? [];
  if (measure !== undefined) {
    const isBook = /[本册]/.test(measure);
    return [...said.matchAll(COUNTED_IN_CHINESE)].some(([, many, once]) => {
      const one = many ?? once ?? '';
      return isBook ? /[本册]/.test(one) : one === measure;
    });
  }
  if (unit !== undefined) {
    const things = whatIsAsked(`${unit} ${next}`).subjects;
    return [...said.matchAll(COUNTED)].some(([, counted = '']) => {
      const text = new DescribedText(counted);
      return (
        [unit, next].some((word) => word !== '' && text.has(wordStem(word))) || things.some((thing) => text.has(thing))
      );
    });
  }
  return ASKS_PERIOD.test(question) ? PERIOD.test(said) : undefined;
}

function weightOf(passage: string, language: Language): number {
  return /\p{Script=Han}/u.test(passage) === (language === 'zh') ? 1 : OTHER_LANGUAGE_WEIGHT;
}
