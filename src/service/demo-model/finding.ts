import type { Language } from '../../shared/text/texts.ts';
import type { ToolCall } from '../chat/chat-message.ts';

/** An answer together with how it was come by, which is the honest content of this model's "thoughts". */
export interface Finding {
  text?: string;
  toolCalls?: ToolCall[];
  tokensPerSec?: number;
  thought: string;
}

/** What the branches of the model look at. */
export interface Question {
  /** The newest thing that the person wrote, without labels and what is quoted. */
  text: string;
  language: Language;
  /** What they wrote before, the newest first. */
  earlier: string[];
}
