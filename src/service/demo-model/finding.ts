import type { Language } from '../../shared/text/texts.ts';
import type { ToolCall } from '../chat/chat-message.ts';

/** An answer together with how it was found, which is shown as this model's reasoning. */
export interface Finding {
  text?: string;
  toolCalls?: ToolCall[];
  tokensPerSec?: number;
  thought: string;
}

/** Input of the model's rules. */
export interface Question {
  /** The newest text of the person, without labels and quotations. */
  text: string;
  language: Language;
  /** Earlier texts of the person, newest first. */
  earlier: string[];
}
