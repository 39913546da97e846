import type { NowMs } from '../../../shared/clock.ts';
import { ChatError } from '../../model/chat-error.ts';
import type { ChatClient, ChatMessage, ChatRequest, EndReason, OnChatEvent, ToolCall } from '../../model/chat-types.ts';
import { estimateTokens } from '../conversation/estimate-tokens.ts';
import { NamedAddresses } from '../../tools/named-addresses.ts';
import type { Citable, ToolAsker } from '../../tools/tool.ts';
import { labelToolResult } from './label-tool-result.ts';
import { isSummary, type TurnSources } from './turn-sources.ts';
import { runToolCalls, type ToolRunOptions } from './run-tool-calls.ts';
import { parseJson } from '../../../shared/parse-json.ts';

export interface ToolLoopOptions extends Omit<ToolRunOptions, 'context'> {
  chat: Pick<ChatClient, 'stream'>;
  asker: ToolAsker;
  sources: Pick<TurnSources, 'cite' | 'heard'>;
  /** Monotonic clock. */
  monotonicMs: NowMs;
  /** Called before each round that follows results, with the hosts named by people and tools so far. */
  onHostsNamed?(hosts: ReadonlySet<string>): void;
}

/**
 * Tool calls in an answer with one of these end reasons are not run: a truncated answer is incomplete, and a filtered one is
 * unwanted.
 */
const FINAL_END_REASONS: ReadonlySet<EndReason> = new Set(['truncated', 'content_filter']);

/**
 * Calls the model, runs its tool calls, and calls it again with the results, as one stream of events: the texts of all
 * rounds in order, separated by an empty line, so that no displayed text is lost, and one end. Results are not part of the
 * answer, and the usage of each round is reported. After the last round, or when time or tokens are used up,
 * the model is called without tools.
 * @throws ChatError at any step; errors of tools are reported to the model
 */
export async function runToolLoop(options: ToolLoopOptions, request: ChatRequest, onEvent: OnChatEvent): Promise<void> {
  const { limits, chat, signal, monotonicMs } = options;
  const { tools = [] } = request;
  let { model } = request;
  let messages: readonly ChatMessage[] = request.messages;
  const { sources } = options;
  sources.heard(messages);
  const named = new NamedAddresses(textsOfPeople(messages));
  const context = {
    ...options.asker,
    isNamed: (address: string) => named.has(address),
    cite: (found: Citable) => sources.cite(found),
  };
  let untilMs = Number.POSITIVE_INFINITY;
  let leftTokens = limits.turnTokens;
  let hasText = false;
  for (let round = 1; ; round += 1) {
    const mayCall = tools.length > 0 && round <= limits.rounds && monotonicMs() < untilMs && leftTokens > 0;
    const calls: ToolCall[] = [];
    const said: { text: string; thought: string; reason?: EndReason } = { text: '', thought: '' };
    try {
      await chat.stream({ ...request, model, messages, tools: mayCall ? tools : undefined }, signal, (event) => {
        // The fallback model also answers the later rounds, and the fallback is reported only once.
        if (event.type === 'fallback') model = event.model;
        if (event.type === 'text') {
          onEvent(said.text === '' && hasText ? { type: 'text', delta: `\n\n${event.delta}` } : event);
          said.text += event.delta;
        } else if (event.type === 'retract') {
          said.text = '';
          onEvent(event);
        } else if (event.type === 'tool-call') calls.push(event);
        else if (event.type === 'end') said.reason = event.reason;
        else {
          if (event.type === 'reasoning') said.thought += event.delta;
          onEvent(event.type === 'usage' && round > 1 ? { ...event, isOfLaterRound: true } : event);
        }
      });
    } catch (error) {
      const lighter = withoutResults(messages);
      if (!isTooLarge(error) || said.text !== '' || !lighter) throw error;
      // The question itself did fit; the tool results were too long for this model.
      [messages, untilMs] = [lighter, Number.NEGATIVE_INFINITY];
      continue;
    }
    const { text, thought, reason } = said;
    if (!mayCall || calls.length === 0 || reason === undefined || FINAL_END_REASONS.has(reason)) {
      onEvent({ type: 'end', reason: reason ?? 'truncated' });
      return;
    }
    hasText ||= text.trim() !== '';
    untilMs = Math.min(untilMs, monotonicMs() + limits.turnMs);
    const results = await runToolCalls({ ...options, context }, calls);
    const sentCalls = calls.map((call, position) => withOwnId(call, `r${round}-${position}`, messages));
    const answers = sentCalls.map(({ callId }, position): ChatMessage => {
      const maxTokens = Math.max(0, Math.min(limits.resultTokens, leftTokens));
      const content = labelToolResult(results[position]?.text ?? '', maxTokens);
      leftTokens -= estimateTokens(content);
      if (results[position]?.namesAddresses === true) named.add(content, calls[position]?.argumentsJson);
      return { role: 'tool', callId, content };
    });
    messages = [...messages, { role: 'assistant', content: text, toolCalls: sentCalls, thought }, ...answers];
    options.onHostsNamed?.(named.hosts);
  }
}

const OMITTED_RESULT =
  'Left out: the results of the tools are too long for this model. Answer without them, and say so.';

/** The messages with a placeholder for each result; undefined if no results are left to replace. */
function withoutResults(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const isFull = messages.some((message) => message.role === 'tool' && message.content !== OMITTED_RESULT);
  if (!isFull) return undefined;
  return messages.map((message) => (message.role === 'tool' ? { ...message, content: OMITTED_RESULT } : message));
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ChatError && error.code === 'chat_too_large';
}

/**
 * Texts written by people. Text from the model, including summaries, is excluded: the model may have been manipulated into
 * inventing an address.
 */
function textsOfPeople(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role !== 'user' || isSummary(message.content)) return [];
    if (typeof message.content === 'string') return [message.content];
    return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  });
}

/**
 * A tool call as it is sent back to the model. Engines that send no ids, or repeat them in each round, still need to match
 * each result; and some refuse a conversation whose arguments are not JSON.
 */
function withOwnId(
  { callId, name, argumentsJson }: ToolCall,
  ownId: string,
  messages: readonly ChatMessage[],
): ToolCall {
  const isTaken = messages.some((message) => message.role === 'tool' && message.callId === callId);
  return {
    callId: isTaken ? ownId : callId,
    name,
    argumentsJson: parseJson(argumentsJson) !== undefined ? argumentsJson : '{}',
  };
}
