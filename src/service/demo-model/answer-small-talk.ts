import { localize, type Language } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import { isServed } from './plain-requests.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

type Talk = 'hello' | 'who' | 'whoAmI' | 'abilities' | 'words' | 'thanks' | 'bye';

/** End of a whole sentence, so that a question that only begins like small talk is looked up in the pages. */
const END = String.raw`[\s!.,~?！。？，]*$`;

const TALK: readonly [talk: Talk, pattern: RegExp][] = [
  [
    'abilities',
    sentence(
      String.raw`(?:so |and )?(?:what (?:can|could|do) you (?:do|know|help)(?: (?:me )?(?:with|for me|about))?(?: here)?|what can i ask(?: you)?(?: here)?|how can you help(?: me)?|(?:please )?help(?: me)?|what are you (?:good )?for)`,
      '(?:请问)?(?:你|你)(?:都)?(?:能|会|可以|能够)(?:帮我|帮忙|为我)?(?:做|干|回答)?(?:些)?(?:什么|啥|哪些)(?:事|事情|忙|问题)?|(?:你|你)有(?:什么|哪些)(?:功能|用)|帮助|我(?:能|可以)问(?:你)?(?:什么|些什么|哪些问题)',
    ),
  ],
  [
    'words',
    sentence(
      String.raw`(?:what|which) (?:(?:slash )?(?:words|commands)(?: (?:can|could|may|should) (?:i|we) (?:type|use|say|send|write|give)(?: you| here)?| (?:are there|exist|do you (?:know|understand)))?|can i (?:type|say|write|send)(?: here)?)`,
      '(?:我)?(?:都)?(?:能|可以|会)?(?:用|输入|发送|说|使用)?(?:有|认识|支持)?(?:哪些|什么)(?:斜杠)?(?:指令|命令|词)(?:可以用|可用)?|(?:你|你)(?:认识|支持|有)(?:哪些|什么)(?:指令|命令|词)',
    ),
  ],
  [
    'whoAmI',
    sentence(
      String.raw`(?:do you know |tell me |guess )?(?:who (?:do you (?:think|believe) )?(?:i am|am i)|(?:what is |what's )?my name|who is (?:this|writing|asking))`,
      '(?:你|你)?(?:知道|觉得|认为|猜)?我(?:是|叫)(?:谁|什么|什么名字)|(?:你|你)(?:知道|记得)我(?:的名字)?',
    ),
  ],
  [
    'who',
    /\bwho are you\b|\bwhat are you[\s!?.]*$|\bare you (?:a |an )?(?:ai|bot|human|real|large|gpt|llm)\b|\b(?:what|which) model (?:are you|is this|answers|am i)\b|你是谁|你是什么|你叫什么|(?:这|现在)是什么模型|什么模型在回答/i,
  ],
  [
    'hello',
    sentence(
      String.raw`(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings|how are you(?: doing| today)?|how do you do|how is it going|how's it going|what's up)(?:\s*,?\s*(?:there|parley|all|everyone|bot))?(?:[\s,.!]+(?:how are you(?: doing| today)?|how is it going|how's it going|what's up))?`,
      '(?:你|您|大家)好|嗨|哈喽|早|早安|早上好|上午好|下午好|晚上好|在吗|你好吗|(?:(?:你|您)好[啊呀]?[，,！!]?)?(?:你)?最近(?:怎么样|好吗|还好吗)',
    ),
  ],
  [
    'thanks',
    sentence(
      String.raw`(?:(?:that (?:was|is) [a-z ]{2,20}|great|ok|okay|perfect|cool)[,.!]? )?(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:you|so|very|much|a lot|again|for (?:the|your) [a-z]{2,20}|parley|everyone)){0,4}`,
      '(?:好的|太|非常|十分)?[，, ]?(?:谢谢|多谢|感谢)(?:你|您|大家)?(?:了|啦|的帮助)?',
    ),
  ],
  ['bye', /^(?:bye|goodbye|good night|see you)\b.{0,20}$|^(?:再见|拜拜|晚安).{0,6}$/i],
];

/** A pattern that matches if the whole text is one of these phrases, in English or Chinese. */
function sentence(english: string, chinese: string): RegExp {
  return new RegExp(`^(?:(?:${english})|(?:${chinese})[啊呀呢吗]?)${END}`, 'i');
}

const PREVIOUS =
  /\b(?:what (?:did|was|were) (?:i|my)\b.{0,200}\b(?:ask|say|said|question|before|previous|last)|my (?:previous|last) (?:question|message))|(?:我)?(?:刚才|之前|上一个|上次|前面)(?:我)?(?:问|说)(?:了|的|过)?(?:是)?(?:什么|啥)|上一个问题/i;

const MAX_QUOTED_CHARS = 400;

/**
 * Answers greetings, thanks, questions about identity, available commands and earlier questions. @param tools names of the
 * callable tools
 */
export function answerSmallTalk({ text, language, earlier }: Question, tools: readonly string[]): Finding | undefined {
  const thought = localize(BUILT_IN_TEXTS.thoughtTalk, language);
  if (text === '') return { text: localize(BUILT_IN_TEXTS.hello, language), thought };
  if (PREVIOUS.test(text)) {
    const previous = earlier[0];
    if (previous === undefined) return { text: localize(BUILT_IN_TEXTS.noPrevious, language), thought };
    return {
      text: localize(BUILT_IN_TEXTS.previous, language, {
        question: [...previous].slice(0, MAX_QUOTED_CHARS).join(''),
      }),
      thought,
    };
  }
  const talk = TALK.find(([, pattern]) => pattern.test(text))?.[0];
  if (talk === undefined) return undefined;
  if (talk === 'abilities') return { text: tellAbilities(language, tools), thought };
  return { text: localize(BUILT_IN_TEXTS[talk], language), thought };
}

/** Never offers anything that needs a missing tool. */
function tellAbilities(language: Language, tools: readonly string[]): string {
  const served = TOOL_EXAMPLES.filter((example) => isServed(localize(BUILT_IN_TEXTS[example], language), tools));
  const examples = served.map((example) => `“${localize(BUILT_IN_TEXTS[example], language)}”`);
  const withTools =
    examples.length === 0
      ? ''
      : localize(BUILT_IN_TEXTS.abilityTools, language, { examples: examples.join(language === 'zh' ? '' : ', ') });
  return localize(BUILT_IN_TEXTS.abilities, language, { withTools });
}

const TOOL_EXAMPLES = ['exampleTime', 'exampleWho', 'exampleSearch', 'examplePage'] as const;
