import { promptTokens } from '../conversation/build-prompt.ts';
import { estimateTokens } from '../conversation/estimate-tokens.ts';
import type { ChatEvent, ChatRequest } from '../../model/chat-types.ts';

/** What one question cost: as the service counts it, else as we estimate it. Several calls may belong to one question. */
export class TokenCount {
  #counted = 0;
  #estimated = 0;
  #text = '';

  /** A prompt is sent now. */
  asked(messages: ChatRequest['messages'], tokenFactor: number): void {
    const written = messages.filter((message) => message.role !== 'tool');
    this.#estimated = promptTokens(written, tokenFactor);
    this.#text = '';
  }

  /** Something came back. */
  heard(event: ChatEvent): void {
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
