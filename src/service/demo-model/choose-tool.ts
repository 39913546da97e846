import { randomBytes } from 'node:crypto';
import { localize } from '../../shared/text/texts.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { ToolDeclaration } from '../chat/tool-declaration.ts';
import type { Finding, Question } from './finding.ts';
import { fillArguments } from './fill-arguments.ts';
import { isOfPlainKind, rateByPlainRequest } from './plain-requests.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';
import { contentWordsOf, standingAlone, wordStem } from './words.ts';

/** Words that occur in the description of any tool, so they do not distinguish one. */
const GENERIC = new Set(
  'get fetch list read find lookup query tool function call current now today info information data return value'.split(
    ' ',
  ),
);

/** Only the beginning of a description states the tool's purpose. */
const MAX_DESCRIPTION_CHARS = 2_000;

/** Names of the callable tools. */
export function offeredTools({ tools, toolChoice }: ChatRequest): string[] {
  return toolChoice === 'none' ? [] : tools.map(({ name }) => name);
}

/**
 * The tool call that the caller requires or the question clearly asks for; undefined if none fits.
 * @param isPlainOnly ignores tools that only share words with the question, because documents may be a better source
 */
export function chooseTool(
  { tools, toolChoice }: ChatRequest,
  question: Question,
  { isPlainOnly = false } = {},
): Finding | undefined {
  if (tools.length === 0 || toolChoice === 'none') return undefined;
  const tool = pick(tools, toolChoice, { question: question.text, isPlainOnly });
  if (!tool) return undefined;
  const call = {
    id: `call_${randomBytes(12).toString('hex')}`,
    type: 'function' as const,
    function: { name: tool.name, arguments: JSON.stringify(fillArguments(tool, question.text)) },
  };
  return { toolCalls: [call], thought: localize(BUILT_IN_TEXTS.thoughtTool, question.language, { name: tool.name }) };
}

function pick(
  tools: ToolDeclaration[],
  choice: ChatRequest['toolChoice'],
  { question, isPlainOnly }: { question: string; isPlainOnly: boolean },
): ToolDeclaration | undefined {
  if (typeof choice === 'object') return tools.find(({ name }) => name === choice.name);
  const asked = new Set(contentWordsOf(question));
  // A question that documents may answer is not an explicit request for a tool.
  const rated = tools
    .filter(({ name }) => name !== 'knowledge_search' || isNamed(name, question))
    .map((tool) => ({ tool, score: rate(tool, asked, { question, isPlainOnly }) }))
    .sort((left, right) => right.score - left.score);
  const best = rated[0];
  return best && (best.score > 0 || choice === 'required') ? best.tool : undefined;
}

/**
 * 0 unless the tool is named, does what was explicitly requested, all significant words of its name occur, or half of them
 * with two words of its description.
 */
function rate(
  { name, description }: ToolDeclaration,
  asked: ReadonlySet<string>,
  { question, isPlainOnly }: { question: string; isPlainOnly: boolean },
): number {
  if (isNamed(name, question)) return 100;
  const plain = rateByPlainRequest(name, question);
  return isPlainOnly || isOfPlainKind(name) ? plain : Math.max(plain, rateByWords(name, description, asked));
}

function rateByWords(name: string, description: string, asked: ReadonlySet<string>): number {
  const nameWords = telling(name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_.-]+/g, ' '));
  const described = telling(description.slice(0, MAX_DESCRIPTION_CHARS)).filter((word) => asked.has(word)).length;
  const named = nameWords.filter((word) => asked.has(word)).length;
  const share = nameWords.length === 0 ? 0 : named / nameWords.length;
  const isChinese = /\p{Script=Han}/u.test(description) && described > 0;
  return share === 1 || (share >= 0.5 && described >= 2) || (isChinese && described >= 2) ? 10 * share + described : 0;
}

/** A long name anywhere; a short one, which may be an ordinary word, only in a call: `call f`, `f(5)`, `用 f`. */
function isNamed(name: string, question: string): boolean {
  if (name.length > 3) return question.toLowerCase().includes(name.toLowerCase());
  const called = String.raw`(?:\b(?:call|use|run|invoke|execute)(?=\s)|调用|使用|执行|运行|用)\s*(?:(?:(?:the\s+)?(?:tool|function)(?=\s)|工具|函数)\s*)?["'\x60“「]?`;
  const word = standingAlone(name);
  return new RegExp(`${called}${word}|${word}\\(`, 'iu').test(question);
}

function telling(text: string): string[] {
  return contentWordsOf(text).filter((word) => word.length > 1 && !GENERIC.has(wordStem(word)));
}
