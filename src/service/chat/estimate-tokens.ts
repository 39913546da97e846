import { imagesOf, textOf } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';

const IMAGE_TOKENS = 256;
const MESSAGE_TOKENS = 4;
const LETTERS_PER_TOKEN = 4;
const HAN = /\p{Script=Han}/gu;

/** Cuts text into the pieces in which it is streamed: a word with its space, or one Chinese character. Joined they give the text. */
export function splitTokens(text: string): string[] {
  return text.match(/\p{Script=Han}\s*|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? [];
}

/** A rough count: a Chinese character is one token, four other letters are one. */
export function estimateTokens(text: string): number {
  const han = text.match(HAN)?.length ?? 0;
  return han + Math.ceil((text.length - han) / LETTERS_PER_TOKEN);
}

/** Estimates the prompt of a request, images and tools included. */
export function estimatePromptTokens({ messages, tools }: ChatRequest): number {
  const spoken = messages.reduce((sum, message) => {
    return sum + MESSAGE_TOKENS + estimateTokens(textOf(message)) + IMAGE_TOKENS * imagesOf(message).length;
  }, 0);
  return spoken + (tools.length > 0 ? estimateTokens(JSON.stringify(tools)) : 0);
}
