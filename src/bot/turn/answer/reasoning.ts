import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { localize, type Language } from '../../../shared/text/texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import { MaskStream, type MaskRules } from '../moderation/mask-text.ts';
import type { Chat } from '../../domain/message.ts';
import type { Preferences } from '../conversation/preferences.ts';

/** Where the model's reasoning is shown to a person who enabled it (THINKING_SHOWN). */
export type ThinkingShown = 'never' | 'private' | 'everywhere';

/** Maximum stored length of the reasoning; only its newest part is kept. UTF-16 units. */
const MAX_THOUGHT_CHARS = 4_000;
/** Update interval of the displayed seconds; each update is a call to the platform. */
const SECONDS_STEP = 3;

/**
 * The model's reasoning during an answer. It goes from the chat service to the reply separately, and is never part of the
 * text, the history or a stored answer (SECURITY.md thoughts-hidden).
 */
export class Thought {
  readonly #isShown: boolean;
  readonly #language: Language;
  #sinceMs: number | undefined;
  readonly #masks: MaskStream | undefined;
  #newest = '';

  /** @param isShown see `isReasoningShown` @param masks what is masked in it */
  constructor(isShown: boolean, language: Language, masks?: MaskRules) {
    this.#isShown = isShown;
    this.#language = language;
    this.#masks = masks && new MaskStream(masks);
  }

  add(delta: string): void {
    this.#sinceMs ??= monotonicMs();
    if (!this.#isShown) return;
    this.#newest += this.#masks ? this.#masks.take(delta) : delta;
    // Trim occasionally, not with every token.
    if (this.#newest.length > 2 * MAX_THOUGHT_CHARS) this.#newest = newestOf(this.#newest);
  }

  /**
   * Status next to the text: the notes and, if the reasoning is not displayed, the time that the model has been reasoning
   * without any text.
   * @param isEmpty whether there is no text; asked only while the time would be shown
   * @param doing the current activity, shown instead of the time
   */
  liveStatus(isEmpty: () => boolean, notes: readonly string[], doing?: string): string | undefined {
    const seconds = doing === undefined ? this.#seconds() : undefined;
    const last = doing ?? (seconds !== undefined && isEmpty() ? seconds : undefined);
    const lines = last === undefined ? notes : [...notes, last];
    return lines.length === 0 ? undefined : lines.join('\n');
  }

  /** The reasoning next to the text; see `ReplyView.thinking`. */
  liveThinking(): string | undefined {
    return this.#sinceMs === undefined ? undefined : newestOf(this.#newest);
  }

  /** The reasoning in the finished reply. */
  finalView(): { thinking?: string } {
    this.#newest += this.#masks?.take('', true) ?? '';
    return { thinking: this.#newest.trim() === '' ? undefined : newestOf(this.#newest) };
  }

  #seconds(): string | undefined {
    if (this.#sinceMs === undefined || this.#isShown) return undefined;
    const passedSec = (monotonicMs() - this.#sinceMs) / SECOND_MS;
    const seconds = Math.max(1, Math.floor(passedSec / SECONDS_STEP) * SECONDS_STEP);
    return localize(TURN_TEXTS.thinking, this.#language, { seconds });
  }
}

/** Whether the reasoning may be shown: only to a person who enabled it; in a group, other members could read it. */
export function isReasoningShown(
  thinkingShown: ThinkingShown,
  asked: Preferences['thinking'],
  chatKind: Chat['kind'],
): boolean {
  if (asked === undefined || asked === 'off') return false;
  return thinkingShown === 'everywhere' || (thinkingShown === 'private' && chatKind === 'private');
}

function newestOf(thought: string): string {
  if (thought.length <= MAX_THOUGHT_CHARS) return thought;
  // Never split a surrogate pair.
  return `…${thought.slice(-MAX_THOUGHT_CHARS).replace(/^[\udc00-\udfff]/, '')}`;
}
