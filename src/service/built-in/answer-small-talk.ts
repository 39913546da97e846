import { say } from '../../base/texts.ts';
import type { Finding, Question } from './compose-answer.ts';
import { BUILT_IN_TEXTS } from './texts.ts';

type Talk = 'hello' | 'who' | 'abilities' | 'thanks' | 'bye';

const TALK: readonly [talk: Talk, pattern: RegExp][] = [
  [
    'abilities',
    /^(?:what can you do|what do you (?:do|know)|help|what can i ask(?: you)?)\b|^(?:你能做什么|你会什么|你可以做什么|你能干什么|帮助)/i,
  ],
  [
    'who',
    /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:ai|bot|human|real|large|gpt|llm)|\bwhat model\b|你是谁|你是什么|你叫什么|什么模型/i,
  ],
  [
    'hello',
    /^(?:hello|hi|hey|good (?:morning|afternoon|evening)|greetings)(?:\s+(?:there|parley|all|everyone))?[\s!.,~]*$|^(?:你好|您好|嗨|早上好|下午好|晚上好|在吗)[啊呀！!。？?\s]*$/i,
  ],
  ['thanks', /^(?:thanks|thank you|thx|cheers)\b.{0,40}$|^(?:谢谢|多谢|感谢).{0,12}$/i],
  ['bye', /^(?:bye|goodbye|see you)\b.{0,20}$|^(?:再见|拜拜).{0,6}$/i],
];

const PREVIOUS =
  /\b(?:what (?:did|was|were) (?:i|my)\b.*\b(?:ask|say|said|question|before|previous|last)|my (?:previous|last) (?:question|message))|(?:我)?(?:刚才|之前|上一个|上次|前面)(?:我)?(?:问|说)(?:了|的|过)?(?:是)?(?:什么|啥)|上一个问题/i;

const MAX_QUOTED_CHARS = 400;

/** Greetings, thanks, who-are-you, and what was asked before. */
export function answerSmallTalk({ text, language, earlier }: Question): Finding | undefined {
  const thought = say(BUILT_IN_TEXTS.thoughtTalk, language);
  if (text === '') return { text: say(BUILT_IN_TEXTS.hello, language), thought };
  if (PREVIOUS.test(text)) {
    const previous = earlier[0];
    if (previous === undefined) return { text: say(BUILT_IN_TEXTS.noPrevious, language), thought };
    return {
      text: say(BUILT_IN_TEXTS.previous, language, { question: [...previous].slice(0, MAX_QUOTED_CHARS).join('') }),
      thought,
    };
  }
  const talk = TALK.find(([, pattern]) => pattern.test(text))?.[0];
  return talk === undefined ? undefined : { text: say(BUILT_IN_TEXTS[talk], language), thought };
}
