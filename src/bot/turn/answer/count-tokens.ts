import { promptTokens } from '../conversation/build-prompt.ts';
import { estimatesOf, estimateTokens } from '../conversation/estimate-tokens.ts';
import type { ChatEvent, ChatRequest, ToolDeclaration } from '../../model/chat-types.ts';

/** Token usage of one question: the service's count, otherwise an estimate. A question may consist of several calls. */
export class TokenCount {
  #counted = 0;
  #estimated = 0;
  #text = '';

  /** Records a prompt that is being sent. */
  recordPrompt(messages: ChatRequest['messages'], tokenFactor: number): void {
    const written = messages.filter((message) => message.role !== 'tool');
    this.#estimated = promptTokens(written, tokenFactor);
    this.#text = '';
  }

  /** Records an event of the response. */
  recordEvent(event: ChatEvent): void {
    if (event.type === 'text' || event.type === 'reasoning') this.#text += event.delta;
    if (event.type !== 'usage') return;
    this.#counted += event.promptTokens + event.completionTokens;
    this.#estimated = 0;
    this.#text = '';
  }

  get tokens(): number {
    return this.#counted + this.#estimated + estimateTokens(this.#text);
  }
}

const declarationEstimate = estimatesOf((tool: ToolDeclaration) => JSON.stringify(tool));

/** Estimates the prompt tokens of tool declarations. @param factor see `estimateTokens` */
export function declarationTokens(tools: readonly ToolDeclaration[] = [], factor = 1): number {
  return tools.reduce((sum, tool) => sum + declarationEstimate(tool, factor), 0);
}
