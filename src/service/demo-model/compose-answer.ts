import { languageOfText, localize } from '../../shared/text/texts.ts';
import { imagesOf, textOf, type ChatMessage, type ToolCall } from '../chat/chat-message.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import { isAboutUs } from './about-us.ts';
import { answerCount } from './answer-count.ts';
import { answerCommonQuestion } from './common-questions.ts';
import { answerSmallTalk } from './answer-small-talk.ts';
import { answerFromFiles, splitFiles } from './answer-from-files.ts';
import { askedText } from './asked-text.ts';
import { chooseTool, offeredTools } from './choose-tool.ts';
import { describeImages } from './describe-images.ts';
import type { Finding, Question } from './finding.ts';
import { tellMissingTool } from './plain-requests.ts';
import { calculate } from './calculate.ts';
import { showPiece } from './show-pieces.ts';
import { answerNothing, findInDocs } from './answer-from-docs.ts';
import {
  answerFromKnowledge,
  isFromKnowledge,
  nothingInKnowledge,
  offersKnowledge,
  searchKnowledge,
} from './answer-from-knowledge.ts';
import { answerFromToolResults } from './answer-from-tool-results.ts';
import type { DocSearch } from './doc-search.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

/** Answer of the built-in model: a text, or tool calls. */
export interface Answer {
  /** Empty unless thinking is enabled. */
  reasoning: string;
  text: string;
  toolCalls: ToolCall[];
  /** Maximum speed, if the user asked for a slow answer. */
  tokensPerSec?: number;
}

/** Answers the newest message of a conversation with the first matching rule. */
export async function composeAnswer(request: ChatRequest, docs: DocSearch): Promise<Answer> {
  const question = readQuestion(request.messages);
  const finding = await find(request, question, docs);
  const toolCalls = finding.toolCalls ?? [];
  const thought = localize(BUILT_IN_TEXTS.thought, question.language, { thought: finding.thought });
  return {
    reasoning: request.thinking === 'enabled' ? thought : '',
    text: toolCalls.length > 0 ? '' : (finding.text ?? ''),
    toolCalls,
    tokensPerSec: finding.tokensPerSec,
  };
}

async function find(request: ChatRequest, question: Question, docs: DocSearch): Promise<Finding> {
  const newest = request.messages.at(-1);
  if (newest?.role === 'tool')
    return isFromKnowledge(request.messages)
      ? (answerFromKnowledge(request.messages, question) ??
          chooseTool(request, question) ??
          nothingInKnowledge(request.messages, question))
      : answerFromToolResults(request.messages, question.language);
  return (
    showPiece(question) ??
    answerCount(question) ??
    calculate(question) ??
    chooseTool(request, question, { isPlainOnly: offersKnowledge(request) }) ??
    answerFromFiles(newest ? splitFiles(textOf(newest)).files : [], question) ??
    describeImages(newest ? imagesOf(newest) : [], question.language) ??
    tellMissingTool(question.text, question.language) ??
    answerSmallTalk(question, offeredTools(request)) ??
    answerCommonQuestion(question) ??
    (isAboutUs(question.text) ? await findInDocs(docs, question) : undefined) ??
    searchKnowledge(request, question) ??
    answerNothing(question)
  );
}

function readQuestion(messages: ChatMessage[]): Question {
  const asked = messages
    .filter(({ role }) => role === 'user')
    .map((message) => askedText(splitFiles(textOf(message)).rest));
  const [text = '', ...earlier] = asked.reverse();
  return { text, language: languageOfText(text), earlier };
}
