import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { say } from '../../../shared/text/texts.ts';
import type { ReplyView } from '../../domain/reply.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { TurnContext } from '../turn-context.ts';

/** Where the model's thought is shown to a person who chose that it thinks (THINKING_SHOWN). */
export type ThinkingShown = 'never' | 'private' | 'everywhere';

/** What is kept of a thought while it goes on: its newest part. UTF-16 units. */
const MOST_THOUGHT_CHARS = 4_000;
/** How often the seconds change: each change is a call of the platform's. */
const SECONDS_STEP = 3;

export interface ThoughtOptions {
  thinkingShown: ThinkingShown;
}

/**
 * The model's thought while it thinks: a channel of its own from the chat service to the reply, never part of the text,
 * of the history or of a stored answer (SECURITY.md thoughts-hidden).
 */
export class Thought {
  readonly #context: Pick<TurnContext, 'platform' | 'question'>;
  readonly #isShown: boolean;
  #sinceMs: number | undefined;
  #newest = '';

  constructor({ thinkingShown }: ThoughtOptions, context: TurnContext) {
    this.#context = context;
    this.#isShown = mayShow(thinkingShown, context) && context.platform.replyTraits.thinking === 'block';
  }

  add(delta: string): void {
    this.#sinceMs ??= monotonicMs();
    if (!this.#isShown) return;
    this.#newest += delta;
    // Cut now and then, not with every token.
    if (this.#newest.length > 2 * MOST_THOUGHT_CHARS) this.#newest = newestOf(this.#newest);
  }

  /**
   * What stands beside the text: the thought itself where it is shown, else for how long there is no text yet.
   * @param doing what is being done meanwhile instead of thinking
   */
  liveView(text: string, notes: readonly string[], doing?: string): Pick<ReplyView, 'thinking' | 'status'> {
    const last = doing ?? (text === '' ? this.#seconds() : undefined);
    const lines = last === undefined ? notes : [...notes, last];
    return {
      status: lines.length === 0 ? undefined : lines.join('\n'),
      thinking: this.#sinceMs === undefined ? undefined : newestOf(this.#newest),
    };
  }

  /** What of it stands in the finished reply. */
  finalView(): { thinking?: string } {
    return { thinking: this.#newest.trim() === '' ? undefined : newestOf(this.#newest) };
  }

  #seconds(): string | undefined {
    if (this.#sinceMs === undefined || this.#isShown) return undefined;
    const passedSec = (monotonicMs() - this.#sinceMs) / SECOND_MS;
    const seconds = Math.max(1, Math.floor(passedSec / SECONDS_STEP) * SECONDS_STEP);
    return say(TURN_TEXTS.thinking, this.#context.question.language, { seconds });
  }
}

/** Only who chose that the model thinks reads what it thinks; in a group others would read along. */
function mayShow(thinkingShown: ThinkingShown, { preferences, newest }: TurnContext): boolean {
  if (preferences.thinking === undefined || preferences.thinking === 'off') return false;
  return thinkingShown === 'everywhere' || (thinkingShown === 'private' && newest.chat.kind === 'private');
}

function newestOf(thought: string): string {
  if (thought.length <= MOST_THOUGHT_CHARS) return thought;
  // Never from within a character of two units.
  return `…${thought.slice(-MOST_THOUGHT_CHARS).replace(/^[\udc00-\udfff]/, '')}`;
}
