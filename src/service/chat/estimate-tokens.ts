import { imagesOf, textOf } from './chat-message.ts';
import type { ChatRequest } from './chat-request.ts';

const IMAGE_TOKENS = 256;
const MESSAGE_TOKENS = 4;
const LETTERS_PER_TOKEN = 4;

/** Cuts text into the pieces in which it is streamed: a word with its space, or one Chinese character. Joined they give the text. */
export function splitTokens(text: string): string[] {
  return text.match(/\p{Script=Han}\s*|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? [];
}

/** A rough count: a Chinese character is one token, four other letters are one. */
export function estimateTokens(text: string): number {
  const han = countHan(text);
  return han + Math.ceil((text.length - han) / LETTERS_PER_TOKEN);
}

/** By code units, since a body of 32 MiB has ten million of them and a pattern would hold everybody up for seconds. */
function countHan(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isHan = (unit >= 0x3400 && unit <= 0x9fff) || (unit >= 0xf900 && unit <= 0xfaff);
    // The first halves of the pairs that write rare characters.
    if (isHan || (unit >= 0xd840 && unit <= 0xd87f)) count += 1;
  }
  return count;
}

/** Estimates the prompt of a request, images and tools included. */
export function estimatePromptTokens({ messages, tools }: ChatRequest): number {
  const spoken = messages.reduce((sum, message) => {
    return sum + MESSAGE_TOKENS + estimateTokens(textOf(message)) + IMAGE_TOKENS * imagesOf(message).length;
  }, 0);
  return spoken + (tools.length > 0 ? estimateTokens(JSON.stringify(tools)) : 0);
}
