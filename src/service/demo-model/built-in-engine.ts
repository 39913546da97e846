import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS, type NowMs } from '../../shared/clock.ts';
import type { ChatEngine } from '../chat/chat-engine.ts';
import type { ChatRequest } from '../chat/chat-request.ts';
import type { Completion, CompletionChunk, Delta, Usage } from '../chat/completion.ts';
import { estimatePromptTokens, estimateTokens, splitTokens } from '../chat/estimate-tokens.ts';
import { eventLine } from '../chat/event-lines.ts';
import { composeAnswer, type Answer } from './compose-answer.ts';
import { DocSearch } from './doc-search.ts';

/** The bot's commands, typed with a slash unless the app reserves slashes for itself. */
const WORDS =
  /(?<![\w:/.])\/(help|new|stop|retry|model|think|lang|usage|sources|ref|export|forget|whoami|signin|unlink)\b/g;

/** Writes the bot's commands as they are typed in Slack, without the slash. */
function withBareWords(text: string): string {
  return text.replace(WORDS, '$1');
}

export interface BuiltInOptions {
  /** The directory that contains README.md and docs/. */
  docsDir: string;
  /** Tokens per second of a streamed answer; Infinity for as fast as the client reads. */
  tokensPerSec: number;
  /** Whether people type the bot's commands without a slash. Defaults to false. */
  bareWords?: boolean;
  nowMs: NowMs;
}

/**
 * The small model that answers if no engine is configured. It uses rules and a search of Parley's own pages, and says so.
 */
export function createBuiltInEngine({ docsDir, tokensPerSec, bareWords, nowMs }: BuiltInOptions): ChatEngine {
  const docs = new DocSearch(docsDir);
  const compose = async (request: ChatRequest) => {
    const answer = await composeAnswer(request, docs);
    return bareWords === true ? { ...answer, text: withBareWords(answer.text) } : answer;
  };
  const identity = (request: ChatRequest) => ({
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    created: Math.floor(nowMs() / SECOND_MS),
    model: request.model.name,
  });
  return {
    async complete(request) {
      return wholeReply(identity(request), await compose(request), request);
    },
    async stream(request, signal, sink) {
      const reply = identity(request);
      const answer = await compose(request);
      const deltas = deltasOf(answer);
      const pace = createPace(Math.min(tokensPerSec, answer.tokensPerSec ?? Infinity), signal);
      for (const [index, delta] of deltas.entries()) {
        await pace();
        const reason = index === deltas.length - 1 ? finishReason(answer) : undefined;
        if (!sink.write(eventLine(chunk(reply, delta, reason)))) await sink.drained();
      }
      if (request.includeUsage)
        sink.write(
          eventLine({ ...chunk(reply), choices: [], usage: usageOf(answer, request) } satisfies CompletionChunk),
        );
    },
    close: () => Promise.resolve(),
  };
}

interface ReplyIdentity {
  id: string;
  created: number;
  model: string;
}

function chunk(reply: ReplyIdentity, delta: Delta = {}, finishReason?: string): CompletionChunk {
  const { id, created, model } = reply;
  const choice = { index: 0, delta, finish_reason: finishReason };
  return { id, object: 'chat.completion.chunk', created, model, choices: [choice] };
}

function wholeReply({ id, created, model }: ReplyIdentity, answer: Answer, request: ChatRequest): Completion {
  const message = {
    role: 'assistant' as const,
    content: answer.toolCalls.length > 0 ? null : answer.text,
    reasoning_content: answer.reasoning === '' ? undefined : answer.reasoning,
    tool_calls: answer.toolCalls,
  };
  const choice = { index: 0, message, finish_reason: finishReason(answer), logprobs: null, stop_reason: null };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [choice],
    usage: usageOf(answer, request),
    prompt_logprobs: null,
  };
}

/** The chunks of an answer in order: role, reasoning, text or calls. */
function deltasOf(answer: Answer): Delta[] {
  const reasoning = splitTokens(answer.reasoning).map((piece): Delta => ({ reasoning_content: piece }));
  const text = splitTokens(answer.text).map((piece): Delta => ({ content: piece }));
  const calls = answer.toolCalls.flatMap((call, index): Delta[] => [
    { tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }] },
    ...argumentPieces(call.function.arguments).map((piece): Delta => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ]);
  return [
    { role: 'assistant', content: calls.length > 0 ? null : '' },
    ...reasoning,
    ...(calls.length > 0 ? calls : text),
  ];
}

/** Arguments contain no spaces to split at. */
function argumentPieces(json: string): string[] {
  return json.match(/[\s\S]{1,6}/gu) ?? [];
}

function finishReason(answer: Answer): string {
  return answer.toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf(answer: Answer, request: ChatRequest): Usage {
  const called = answer.toolCalls.map(({ function: { name, arguments: json } }) => estimateTokens(name + json));
  const completionTokens = called.reduce(
    (sum, tokens) => sum + tokens,
    splitTokens(answer.reasoning).length + splitTokens(answer.text).length,
  );
  const promptTokens = estimatePromptTokens(request);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/**
 * Returns a function that waits until the next token is due. Due times count from the last token that was actually sent, so
 * that a slow client does not receive a burst afterwards. Rejects as soon as the signal aborts.
 */
function createPace(tokensPerSec: number, signal: AbortSignal): () => Promise<void> {
  const gapMs = SECOND_MS / tokensPerSec;
  let dueAtMs = performance.now();
  return async () => {
    signal.throwIfAborted();
    const waitMs = dueAtMs - performance.now();
    // Timers have a resolution of one millisecond. Several tokens are then sent together, and the average rate is kept.
    if (waitMs >= 1) await sleep(waitMs, undefined, { signal });
    dueAtMs = Math.max(dueAtMs, performance.now() - SECOND_MS / 10) + gapMs;
  };
}
