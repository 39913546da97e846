import { promptTokens } from '../conversation/build-prompt.ts';
import { estimatesOf, estimateTokens } from '../conversation/estimate-tokens.ts';
import type { ChatEvent, ChatRequest, ToolDeclaration } from '../../model/chat-types.ts';

/** Tokens of prompts and answers. */
export interface TokenUse {
  prompt: number;
  completion: number;
}

/** Token usage of one question: the service's count, otherwise an estimate. A question may consist of several calls. */
export class TokenCount {
  #counted: TokenUse = { prompt: 0, completion: 0 };
  #estimated = 0;
  #text = '';

  /** Records a prompt that is being sent. */
  recordPrompt(messages: ChatRequest['messages'], tokenFactor: number): void {
    const written = messages.filter((message) => message.role !== 'tool');
    this.#estimated = promptTokens(written, tokenFactor);
    this.#text = '';
  }

  recordEvent(event: ChatEvent): void {
    if (event.type === 'text' || event.type === 'reasoning') this.#text += event.delta;
    if (event.type !== 'usage') return;
    const { prompt, completion } = this.#counted;
    this.#counted = { prompt: prompt + event.promptTokens, completion: completion + event.completionTokens };
    this.#estimated = 0;
    this.#text = '';
  }

  get tokens(): number {
    const { prompt, completion } = this.use;
    return prompt + completion;
  }

  get use(): TokenUse {
    const { prompt, completion } = this.#counted;
    return { prompt: prompt + this.#estimated, completion: completion + estimateTokens(this.#text) };
  }
}

const declarationEstimate = estimatesOf((tool: ToolDeclaration) => JSON.stringify(tool));

/** Estimates the prompt tokens of tool declarations. @param factor see `estimateTokens` */
export function declarationTokens(tools: readonly ToolDeclaration[] = [], factor = 1): number {
  return tools.reduce((sum, tool) => sum + declarationEstimate(tool, factor), 0);
}
