import { ChatError } from '../../model/chat-error.ts';
import type { ChatClient } from '../../model/chat-client.ts';
import type { ChatRequest, OnChatEvent } from '../../model/chat-types.ts';
import { promptTokens, type BuiltPrompt } from '../conversation/build-prompt.ts';
import type { PromptSizes } from '../conversation/prompt-sizes.ts';
import { declarationTokens } from './declaration-tokens.ts';

export interface AskWithinLimits {
  chat: Pick<ChatClient, 'stream'>;
  sizes: PromptSizes;
  /** Tokens that a prompt may take, where the service has not shown that it takes less. */
  mostTokens: number;
  model: string;
  /** The request with these messages. */
  request(messages: ChatRequest['messages']): ChatRequest;
  /** Builds the prompt within a budget; `isFresh` leaves out all that was said before. */
  build(prompt: { budgetTokens: number; tokenFactor: number; isFresh: boolean }): BuiltPrompt;
  /** Called when the service answers the question without anything that was said before. */
  startsFresh(): void;
}

/** Of a prompt that was too long, so much is tried once more. */
const COMPACT_SHARE = 0.5;

/**
 * Asks with as much of the conversation as the service takes. Where it says that this was too long, the question is asked
 * once with half as much, then without anything that was said before: a conversation never stays too long for ever
 *. What the service counts corrects the estimates of later prompts.
 * @throws ChatError like `ChatClient.stream`
 */
export async function askWithinLimits(
  options: AskWithinLimits,
  signal: AbortSignal,
  onEvent: OnChatEvent,
): Promise<void> {
  const { sizes, mostTokens, model, request, build } = options;
  const tokenFactor = sizes.factorOf(model);
  const budgetTokens = sizes.budgetOf(model, mostTokens);
  const first = build({ budgetTokens, tokenFactor, isFresh: false });
  const askOnce = (prompt: BuiltPrompt) => askUnlessTooLong({ ...options, signal, onEvent }, prompt);
  if ((await askOnce(first)) === 'answered') return;
  const halfTokens = promptTokens(first.messages, tokenFactor) * COMPACT_SHARE;
  const compact = build({ budgetTokens: halfTokens, tokenFactor, isFresh: false });
  const isCompact = promptTokens(compact.messages) < promptTokens(first.messages) && !compact.isBare;
  if (isCompact && (await askOnce(compact)) === 'answered') return;
  const { messages } = build({ budgetTokens, tokenFactor, isFresh: true });
  let hasBegun = false;
  await options.chat.stream(request(messages), signal, (event) => {
    if (!hasBegun) options.startsFresh();
    hasBegun = true;
    onEvent(event);
  });
}

async function askUnlessTooLong(
  { chat, sizes, model, request, signal, onEvent }: AskWithinLimits & { signal: AbortSignal; onEvent: OnChatEvent },
  { messages, isBare }: BuiltPrompt,
): Promise<'answered' | 'too-long'> {
  const asked = request(messages);
  const hasImages = messages.some(({ content }) => typeof content !== 'string');
  const estimatedTokens = promptTokens(messages) + declarationTokens(asked.tools);
  const answer = { model, hasBegun: false };
  try {
    await chat.stream(asked, signal, (event) => {
      if (event.type === 'fallback') answer.model = event.model;
      else answer.hasBegun = true;
      // What an image costs is each service's own affair.
      if (event.type === 'usage' && !hasImages) sizes.answered(answer.model, estimatedTokens, event.promptTokens);
      onEvent(event);
    });
    return 'answered';
  } catch (error) {
    const isTooLong = error instanceof ChatError && error.code === 'chat_too_large';
    if (!isTooLong || answer.hasBegun || isBare) throw error;
    sizes.refused(model, promptTokens(messages));
    return 'too-long';
  }
}
