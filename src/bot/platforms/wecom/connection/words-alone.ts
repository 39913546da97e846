/** WeCom's thinking block, which only a stream can show; it comes first. */
const THINKING_BLOCK = /^<think>[\s\S]*?<\/think>\n?/;

/**
 * A rendered answer without its thinking block, for a message that cannot grow. A text that consists of the block only loses
 * its tags.
 */
export function withoutThinkingBlock(content: string): string {
  const words = content.replace(THINKING_BLOCK, '');
  return words.trim() === '' ? content.replace(/<\/?think>/g, '').trim() : words;
}
