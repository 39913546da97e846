import { imagesOf, textOf } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';

const IMAGE_TOKENS = 256;
const MESSAGE_TOKENS = 4;
const LETTERS_PER_TOKEN = 4;

/**
 * Splits text into the pieces in which it is streamed: a word with its space, or one Chinese character. Joined they are the
 * original text.
 */
export function splitTokens(text: string): string[] {
  return text.match(/\p{Script=Han}\s*|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? [];
}

/** A rough estimate: one token per Chinese character, or per four other letters. */
export function estimateTokens(text: string): number {
  const han = countHan(text);
  return han + Math.ceil((text.length - han) / LETTERS_PER_TOKEN);
}

/**
 * Iterates over code units: a body of 32 MiB has ten million of them, and a regular expression would block the event loop
 * for seconds.
 */
function countHan(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isHan = (unit >= 0x3400 && unit <= 0x9fff) || (unit >= 0xf900 && unit <= 0xfaff);
    // High surrogates, which begin rare characters.
    if (isHan || (unit >= 0xd840 && unit <= 0xd87f)) count += 1;
  }
  return count;
}

/** Estimates the prompt tokens of a request, including images and tools. */
export function estimatePromptTokens({ messages, tools }: ChatRequest): number {
  const spoken = messages.reduce((sum, message) => {
    return sum + MESSAGE_TOKENS + estimateTokens(textOf(message)) + IMAGE_TOKENS * imagesOf(message).length;
  }, 0);
  return spoken + (tools.length > 0 ? estimateTokens(JSON.stringify(tools)) : 0);
}
