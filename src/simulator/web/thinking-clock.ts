import { SECOND_MS } from '../../shared/clock.ts';
import type { MessageView } from '../api.ts';

/** How long an answer was seen thinking; open-ended while it still is. */
interface Span {
  startMs: number;
  endMs?: number;
}

/** Measures, as far as this page observed it, how long answers were thinking before their text began. */
export interface ThinkingClock {
  /** Records a new version of an answer. */
  observe(message: MessageView, nowMs: number): void;
  /** Whole seconds of thinking so far; undefined for answers whose thinking began before the page observed them. */
  seconds(messageId: string, nowMs: number): number | undefined;
}

/** Whether an answer is thinking: it has a thinking block and no text yet. */
export function isThinking(message: MessageView): boolean {
  return message.state === 'streaming' && message.text === '' && (message.thinking ?? '') !== '';
}

/** A clock without spans. */
export function createThinkingClock(): ThinkingClock {
  const spans = new Map<string, Span>();
  return {
    observe(message, nowMs) {
      const span = spans.get(message.id);
      if (isThinking(message)) {
        if (span === undefined) spans.set(message.id, { startMs: nowMs });
      } else if (span !== undefined && span.endMs === undefined) {
        span.endMs = nowMs;
      }
    },
    seconds(messageId, nowMs) {
      const span = spans.get(messageId);
      return span && Math.max(1, Math.round(((span.endMs ?? nowMs) - span.startMs) / SECOND_MS));
    },
  };
}
