import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import type { DeliveryId } from '../../domain/ids.ts';
import type { WordList } from '../../policy/word-list.ts';
import type { LiveReply } from '../../reply/live-reply.ts';
import type { TurnReport } from '../turn-ports.ts';
import type { AskModeration } from './moderation-service.ts';
import type { ModeratedKind, ModerationVerdict } from './verdict.ts';
import { ModeratedAnswer, SLICE_CHARS } from './moderated-answer.ts';

export interface ModerationOptions {
  words: WordList | undefined;
  /** Undefined without a service. */
  ask: AskModeration | undefined;
  /** What happens to a text while the service is away. */
  whenAway: 'block' | 'allow';
  report: Pick<TurnReport, 'moderated'>;
}

/** Checks questions before they leave, and answers before they are shown (SECURITY.md moderation). */
export class Moderation {
  readonly #options: ModerationOptions;

  constructor(options: ModerationOptions) {
    this.#options = options;
  }

  /** Checks a question with its quotes and files. @throws the signal's reason */
  async judgePrompt(text: string, turnId: DeliveryId, signal: AbortSignal): Promise<ModerationVerdict> {
    if (await this.hasWord(text, signal)) return this.#refuse('prompt', 'words', turnId);
    return this.#askService(text, 'prompt', turnId, signal);
  }

  /** Whether a text has a listed word. Files may bring megabytes: other turns go on between two slices. */
  async hasWord(text: string, signal: AbortSignal): Promise<boolean> {
    const scan = this.#options.words?.begin();
    if (!scan) return false;
    for (let end = SLICE_CHARS; end < text.length; end += SLICE_CHARS) {
      if (scan.scan(text, false, end).hasWord) return true;
      await nextEventLoopTurn();
      signal.throwIfAborted();
    }
    return scan.scan(text, true).hasWord;
  }

  /** Stands between an answer and its live reply. */
  watch(live: Pick<LiveReply, 'show'>, turnId: DeliveryId, signal: AbortSignal): ModeratedAnswer {
    const { words, ask } = this.#options;
    return new ModeratedAnswer({
      ...{ live, words, signal },
      ask: ask && ((text, until) => this.#askService(text, 'answer', turnId, until)),
      onWord: () => this.#refuse('answer', 'words', turnId),
    });
  }

  /** Asks the service, if there is one. @throws the signal's reason */
  async #askService(
    text: string,
    kind: ModeratedKind,
    turnId: DeliveryId,
    signal: AbortSignal,
  ): Promise<ModerationVerdict> {
    const { ask, whenAway, report } = this.#options;
    if (!ask || text.trim() === '') return 'allowed';
    const verdict = await ask(text, kind, signal);
    if (verdict === 'blocked') return this.#refuse(kind, 'service', turnId);
    if (verdict === 'allowed') return 'allowed';
    const isAllowed = whenAway === 'allow';
    report.moderated({ kind, by: 'away', isAllowed, turnId });
    return isAllowed ? 'allowed' : 'unchecked';
  }

  #refuse(kind: ModeratedKind, by: 'words' | 'service', turnId: DeliveryId): 'blocked' {
    this.#options.report.moderated({ kind, by, isAllowed: false, turnId });
    return 'blocked';
  }
}
