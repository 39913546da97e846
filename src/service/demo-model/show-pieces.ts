import { localize, type Bilingual } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/** Slow enough to press Stop or to kill a process meanwhile, and limited in case the client has left. */
const SLOW_NUMBERS = 300;
const SLOW_TOKENS_PER_SEC = 2;

const SLOWLY =
  /\bcount\b[^.?!]{0,40}\b(?:slowly|until (?:i|we) (?:stop|say)|for ?ever|without (?:an )?end|endlessly)\b|\b(?:slowly|endlessly) count\b|慢慢(?:地)?数|(?:一直|不停)(?:地)?数|数[^。？！]{0,10}直到我/i;

const PIECES: readonly { asks: RegExp; text: Bilingual }[] = [
  {
    asks: /\b(?:show|give|make|draw|write|print|create)\b(?: me| us)?(?: an?| some| the| one)?(?: small| little| short| example| sample| markdown)? (?:table|chart)\b|^(?:an? )?(?:table|example table)[\s.!?]*$|(?:给我|看|做|画|来|显示|生成)[^。？！]{0,8}表格?[\s。！!？?]*$|^表格$/i,
    text: {
      en: 'An example of a table:\n\n| Planet | Moons | A day lasts |\n| :-- | --: | --: |\n| Mercury | 0 | 176 days |\n| Earth | 1 | 24 hours |\n| Mars | 2 | 24 h 37 min |\n| Neptune | 16 | 16 hours |\n\nWeCom shows it as a table, Slack as aligned text.',
      zh: '表格示例：\n\n| 行星 | 卫星数 | 一天的长度 |\n| :-- | --: | --: |\n| 水星 | 0 | 176 天 |\n| 地球 | 1 | 24 小时 |\n| 火星 | 2 | 24 小时 37 分 |\n| 海王星 | 16 | 16 小时 |\n\n企业微信显示为表格，Slack 显示为对齐的文字。',
    },
  },
  {
    asks: /\b(?:show|give|write|print|create)\b(?: me| us)?(?: an?| some| the| a (?:piece|bit) of)?(?: small| little| short| example| sample)? (?:code|program|script|function)\b[\s.!?]*$|^(?:some )?code[\s.!?]*$|(?:给我|看|写|来|显示)[^。？！]{0,8}(?:代码|程序)[\s。！!？?]*$|^代码$/i,
    text: {
      en: 'An example of code:\n\n```python\ndef greatest_common_divisor(a: int, b: int) -> int:\n    """Euclidean algorithm."""\n    while b:\n        a, b = b, a % b\n    return a\n\nprint(greatest_common_divisor(1071, 462))  # 21\n```',
      zh: '代码示例：\n\n```python\ndef greatest_common_divisor(a: int, b: int) -> int:\n    """辗转相除法。"""\n    while b:\n        a, b = b, a % b\n    return a\n\nprint(greatest_common_divisor(1071, 462))  # 21\n```',
    },
  },
  {
    asks: /\btell (?:me|us) (?:a|another|some) jokes?\b|^(?:a )?joke[\s.!?]*$|(?:讲|说|来)(?:一)?个?笑话/i,
    text: {
      en: 'Why did the message cross the queue twice? It did not. We checked.',
      zh: '消息为什么在队列里走了两遍？没有的事，我们查过了。',
    },
  },
];

/** Demonstrations of the surrounding system: a slow count to stop, a table, code. */
export function showPiece({ text, language }: Question): Finding | undefined {
  if (SLOWLY.test(text)) {
    const numbers = Array.from({ length: SLOW_NUMBERS }, (_, index) => index + 1).join(' ');
    return {
      text: localize(BUILT_IN_TEXTS.slowCount, language, { numbers }),
      tokensPerSec: SLOW_TOKENS_PER_SEC,
      thought: localize(BUILT_IN_TEXTS.thoughtCount, language, { count: SLOW_NUMBERS }),
    };
  }
  const piece = PIECES.find(({ asks }) => asks.test(text));
  return piece && { text: localize(piece.text, language), thought: localize(BUILT_IN_TEXTS.thoughtPiece, language) };
}
