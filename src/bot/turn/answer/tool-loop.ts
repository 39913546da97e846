import type { NowMs } from '../../../shared/clock.ts';
import { ChatError } from '../../model/chat-error.ts';
import type { ChatClient, ChatMessage, ChatRequest, EndReason, OnChatEvent, ToolCall } from '../../model/chat-types.ts';
import { estimateTokens } from '../conversation/estimate-tokens.ts';
import { NamedAddresses } from '../../tools/named-addresses.ts';
import type { Citable, ToolAsker } from '../../tools/tool.ts';
import { labelToolResult } from './label-tool-result.ts';
import { isSummary, type TurnSources } from './turn-sources.ts';
import { runToolCalls, type ToolRunOptions } from './run-tool-calls.ts';

export interface RoundsOptions extends Omit<ToolRunOptions, 'context'> {
  chat: Pick<ChatClient, 'stream'>;
  asker: ToolAsker;
  sources: Pick<TurnSources, 'cite' | 'heard'>;
  /** Lengths of time. */
  monotonicMs: NowMs;
  /** Told before each round that follows results: the hosts that people wrote and tools found so far. */
  told?(hosts: ReadonlySet<string>): void;
}

/** Calls beside these ends are not run: one came without its end, the other is not wanted. */
const ENDS_FOR_GOOD: ReadonlySet<EndReason> = new Set(['truncated', 'content_filter']);

/**
 * Asks the model, runs the tools that it calls, and asks again with their results, as one stream of events: the texts of
 * all rounds in their order with an empty line between, so that nothing that a person saw is lost, and one end. Results
 * are no part of the answer, and the usage told is that of the request as it was given. After the last round, or when time or tokens are used up, the model is asked without tools.
 * @throws ChatError at any step; what tools do wrong is told to the model
 */
export async function answerInRounds(
  options: RoundsOptions,
  request: ChatRequest,
  onEvent: OnChatEvent,
): Promise<void> {
  const { limits, chat, signal, monotonicMs } = options;
  const { tools = [], ...first } = request;
  let bare = first;
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
      await chat.stream({ ...bare, messages, tools: mayCall ? tools : undefined }, signal, (event) => {
        // Whoever stands in answers the later rounds too; nobody is told twice.
        if (event.type === 'fallback') bare = { ...bare, model: event.model };
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
          if (event.type !== 'usage' || round === 1) onEvent(event);
        }
      });
    } catch (error) {
      const lighter = withoutResults(messages);
      if (!isTooLarge(error) || said.text !== '' || !lighter) throw error;
      // The question itself did fit; what tools found was too much for this model.
      [messages, untilMs] = [lighter, Number.NEGATIVE_INFINITY];
      continue;
    }
    const { text, thought, reason } = said;
    if (!mayCall || calls.length === 0 || reason === undefined || ENDS_FOR_GOOD.has(reason)) {
      onEvent({ type: 'end', reason: reason ?? 'truncated' });
      return;
    }
    hasText ||= text.trim() !== '';
    untilMs = Math.min(untilMs, monotonicMs() + limits.turnMs);
    const results = await runToolCalls({ ...options, context }, calls);
    const told = calls.map((call, position) => withOwnId(call, `r${round}-${position}`, messages));
    const answers = told.map(({ callId }, position): ChatMessage => {
      const mostTokens = Math.max(0, Math.min(limits.resultTokens, leftTokens));
      const content = labelToolResult(results[position]?.text ?? '', mostTokens);
      leftTokens -= estimateTokens(content);
      if (results[position]?.namesAddresses === true) named.add(content, calls[position]?.argumentsJson);
      return { role: 'tool', callId, content };
    });
    messages = [...messages, { role: 'assistant', content: text, toolCalls: told, thought }, ...answers];
    options.told?.(named.hosts);
  }
}

const LEFT_OUT = 'Left out: the results of the tools are too long for this model. Answer without them, and say so.';

/** The messages with a word in place of each result; undefined where there are none, or none any more. */
function withoutResults(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const isFull = messages.some((message) => message.role === 'tool' && message.content !== LEFT_OUT);
  if (!isFull) return undefined;
  return messages.map((message) => (message.role === 'tool' ? { ...message, content: LEFT_OUT } : message));
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ChatError && error.code === 'chat_too_large';
}

/** What people wrote. What the model wrote is left out, its summaries too: it may have been talked into making up an address. */
function textsOfPeople(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap((message) => {
    if (message.role !== 'user' || isSummary(message.content)) return [];
    if (typeof message.content === 'string') return [message.content];
    return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  });
}

/**
 * A call as it goes back to the model. Engines that give no ids, or the same ones in each round, must still find each
 * result; and some refuse a conversation in which arguments are no JSON.
 */
function withOwnId(
  { callId, name, argumentsJson }: ToolCall,
  ownId: string,
  messages: readonly ChatMessage[],
): ToolCall {
  const isTaken = messages.some((message) => message.role === 'tool' && message.callId === callId);
  return { callId: isTaken ? ownId : callId, name, argumentsJson: isJson(argumentsJson) ? argumentsJson : '{}' };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
