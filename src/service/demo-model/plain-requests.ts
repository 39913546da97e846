import { type Language, localize } from '../../shared/text/texts.ts';
import type { Finding } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/** An explicit request for a kind of tool, and the reply if no such tool is offered. */
interface PlainRequest {
  asks(question: string): boolean;
  /** Names of tools that serve it. */
  tool: RegExp;
  /** Compared with the score for a tool's name in the question, which is ten for the complete name. */
  weight: number;
  /** Reply for an unambiguous request without such a tool. */
  missing?: { asks(question: string): boolean; text: 'noPageTool' | 'noSearchTool' | 'noTimeTool' };
}

const ASKS_PERSON =
  /\bwho (?:do you (?:think|believe) )?(?:i am|am i)\b|\b(?:what is|what's|tell me) my (?:name|department|number|identity)\b|\bwhich department am i\b|我(?:是|叫)(?:谁|什么名字)|我(?:在|属于)?(?:是)?(?:哪个|什么)(?:部门|学院)|我的(?:名字|姓名|部门|工号|学号|身份)是?(?:什么|多少)?[?？]?$/i;
/** A URL as a setting's value is not a page to read. */
const LINK = /(?<![=\x60\w/])https?:\/\/[^\s/]/i;
const ASKS_PAGE =
  /^(?:please |can you |could you )*(?:read|open|fetch|visit|summari[sz]e|look at|what does|what is (?:on|at|in))\b|^(?:请|帮我|你|能不能)*(?:读|打开|总结|概括|看看|看一下|访问)|^https?:\/\/\S+$|^https?:\/\/\S+\s[\s,]*(?:please |can you |could you )*(?:read|open|fetch|visit|summari[sz]e)\b/i;
const ASKS_SEARCH =
  /^(?:please |can you |could you )*(?:search|google|look up)\b|^(?:请|帮我|帮忙|你|能不能)*(?:(?:上网|在网上|去网上|网上)(?:搜|查)|搜索|搜一下|搜一搜|搜搜|百度)/i;
/** The present time or date: "what time does the library close" asks for something else. */
const ASKS_TIME = new RegExp(
  [
    String.raw`\bwhat (?:time|date|day)(?: is it| it is)(?: (?:right )?now| today)?${place()}[\s?!.]*$`,
    String.raw`\bwhat(?:'s|’s| is) (?:the )?(?:current |exact |local )?(?:time|date)(?: (?:right )?now| today)?${place()}[\s?!.]*$`,
    String.raw`\bwhat(?:'s|’s| is) today(?:'s|’s) date\b|\b(?:what|which) (?:day|date) (?:is (?:it )?today|is it|of the week is (?:it|today))[\s?!.]*$`,
    String.raw`(?:现在|此刻|目前)[^。？！?!，,]{0,10}几点(?:了|钟)*[啊呀呢吗\s？?！!。]*$|现在(?:是)?什么时间|现在的?时间|今天(?:是)?(?:几号|几月几[号日]|星期几|周几|礼拜几|什么日子)`,
  ].join('|'),
  'i',
);

/** A place where it is asked for: `in New York now`. */
function place(): string {
  return String.raw`(?: (?:in|at) [^?!.]{1,40})?`;
}

const PLAIN_REQUESTS: readonly PlainRequest[] = [
  { asks: (question) => ASKS_PERSON.test(question), tool: /who_?am_?i|^whoami$/i, weight: 50 },
  {
    asks: (question) => LINK.test(question),
    tool: /(?:read|open|fetch|visit|browse|get)_?(?:web_?)?(?:page|url|link|site)/i,
    weight: 50,
    missing: { asks: (question) => LINK.test(question) && ASKS_PAGE.test(question), text: 'noPageTool' },
  },
  {
    asks: (question) => ASKS_SEARCH.test(question),
    tool: /(?:web|internet|online)_?search|search_?(?:web|internet|online)|^search$/i,
    // A tool whose complete name occurs, such as search_flights, takes precedence over a web search.
    weight: 9,
    missing: { asks: (question) => ASKS_SEARCH.test(question), text: 'noSearchTool' },
  },
  {
    asks: (question) => ASKS_TIME.test(question),
    tool: /current_?(?:time|date)|get_?time/i,
    weight: 50,
    missing: { asks: (question) => ASKS_TIME.test(question), text: 'noTimeTool' },
  },
];

/** How explicitly a question asks for what this tool does; 0 if it does not. */
export function rateByPlainRequest(tool: string, question: string): number {
  return Math.max(
    0,
    ...PLAIN_REQUESTS.filter((request) => request.tool.test(tool) && request.asks(question)).map(
      ({ weight }) => weight,
    ),
  );
}

/** Whether a tool has an explicit kind of request. Words that a question shares with such a tool are not a request for it. */
export function isOfPlainKind(tool: string): boolean {
  return PLAIN_REQUESTS.some((request) => request.tool.test(tool));
}

/** Whether one of these tools can serve an example question. */
export function isServed(example: string, tools: readonly string[]): boolean {
  return tools.some((tool) => rateByPlainRequest(tool, example) > 0);
}

/** Replies that there is no tool for an explicit request; undefined if no tool was requested. */
export function tellMissingTool(question: string, language: Language): Finding | undefined {
  const missing = PLAIN_REQUESTS.find((request) => request.missing?.asks(question))?.missing;
  if (!missing) return undefined;
  return {
    text: localize(BUILT_IN_TEXTS[missing.text], language),
    thought: localize(BUILT_IN_TEXTS.thoughtNoTool, language),
  };
}
