import { ChatError } from '../../model/chat-error.ts';
import type { ChatClient } from '../../model/chat-client.ts';
import type { ChatRequest, OnChatEvent } from '../../model/chat-types.ts';
import { promptTokens, type BuiltPrompt } from '../conversation/build-prompt.ts';
import type { PromptSizes } from '../conversation/prompt-sizes.ts';
import { declarationTokens } from './count-tokens.ts';

/** The room for one version of a prompt. */
export interface PromptSize {
  budgetTokens: number;
  tokenFactor: number;
  /** Whether all earlier messages are left out. */
  isFresh: boolean;
}

export interface AskOptions {
  chat: Pick<ChatClient, 'stream'>;
  sizes: PromptSizes;
  /** Maximum tokens of a prompt, unless the service has shown a lower limit. */
  maxTokens: number;
  model: string;
  request(messages: ChatRequest['messages']): ChatRequest;
  build(size: PromptSize): BuiltPrompt;
  /** Called once before the first call, with the estimated tokens of the prompt. Refuses the question by throwing. */
  reserve?(promptTokens: number): Promise<void>;
  /** Called when the service answers the question without the earlier messages. */
  onFreshStart(): void;
}

/** Share of an over-long prompt that is tried next. */
const COMPACT_SHARE = 0.5;

/**
 * Sends as much of the conversation as the service accepts. If the service reports that the prompt is too long, retries once
 * with half as much, then without any earlier messages, so that no conversation stays too long forever. The service's token
 * count corrects the estimates of later prompts.
 * @throws ChatError like `ChatClient.stream`; what `reserve` throws
 */
export async function retryOnContextLength(
  options: AskOptions,
  signal: AbortSignal,
  onEvent: OnChatEvent,
): Promise<void> {
  const { sizes, maxTokens: maxPromptTokens, model, request, build } = options;
  const tokenFactor = sizes.factorOf(model);
  const budgetTokens = sizes.budgetOf(model, maxPromptTokens);
  const first = build({ budgetTokens, tokenFactor, isFresh: false });
  await options.reserve?.(promptTokens(first.messages, tokenFactor));
  const askOnce = (prompt: BuiltPrompt) => askUnlessTooLong(options, prompt, signal, onEvent);
  if ((await askOnce(first)) === 'answered') return;
  const halfTokens = promptTokens(first.messages, tokenFactor) * COMPACT_SHARE;
  const compact = build({ budgetTokens: halfTokens, tokenFactor, isFresh: false });
  const isCompact = promptTokens(compact.messages) < promptTokens(first.messages) && !compact.isBare;
  if (isCompact && (await askOnce(compact)) === 'answered') return;
  const { messages } = build({ budgetTokens, tokenFactor, isFresh: true });
  let hasBegun = false;
  await options.chat.stream(request(messages), signal, (event) => {
    if (!hasBegun) options.onFreshStart();
    hasBegun = true;
    onEvent(event);
  });
}

async function askUnlessTooLong(
  { chat, sizes, model, request }: AskOptions,
  { messages, isBare }: BuiltPrompt,
  signal: AbortSignal,
  onEvent: OnChatEvent,
): Promise<'answered' | 'too-long'> {
  const asked = request(messages);
  const hasImages = messages.some(({ content }) => typeof content !== 'string');
  const estimatedTokens = promptTokens(messages) + declarationTokens(asked.tools);
  const answer = { model, hasBegun: false };
  try {
    await chat.stream(asked, signal, (event) => {
      if (event.type === 'fallback') answer.model = event.model;
      else answer.hasBegun = true;
      // The token count of an image differs between services.
      if (event.type === 'usage' && event.isOfLaterRound !== true && !hasImages)
        sizes.recordUsage(answer.model, estimatedTokens, event.promptTokens);
      onEvent(event);
    });
    return 'answered';
  } catch (error) {
    const isTooLong = error instanceof ChatError && error.code === 'chat_too_large';
    if (!isTooLong || answer.hasBegun || isBare) throw error;
    sizes.recordRefusal(model, promptTokens(messages));
    return 'too-long';
  }
}
