import { conversationKeys, messageKey } from '../base/partition-keys.ts';
import { SECOND_MS, type NowMs } from '../base/clock.ts';
import { loadScript } from '../base/lua-script.ts';
import type { KeyRing } from '../base/key-ring.ts';
import type { RedisClient } from '../base/redis.ts';
import { say, type Language } from '../base/texts.ts';
import type { ConversationRef } from '../platforms/conversation-key.ts';
import type { Platform, ReplyView } from '../platforms/platform.ts';
import { postLater, withCutNotice } from './post-later.ts';
import type { ReplyReport } from './reply-report.ts';
import { REPLY_TEXTS } from './texts.ts';

const showScript = loadScript(import.meta.url, './scripts/show.lua');

export const CONTENT_PURPOSE = 'reply';
/** A live reply is not ended so shortly before its handover that a poll of another process could hand it over meanwhile. */
const HANDOVER_GUARD_MS = 5 * SECOND_MS;

/** The last look of one message record, to be written by the commit. */
export interface FinalRecord {
  id: string;
  fields: string[];
}

export interface LiveReplyOptions {
  redis: RedisClient;
  keyRing: KeyRing;
  platform: Platform;
  nowMs: NowMs;
  report: ReplyReport;
  conversation: ConversationRef;
  epoch: number;
  /** The message that is answered, and those merged into its turn, which point to it. */
  deliveryId: string;
  mergedIds: string[];
  /** When the message came; the reply's life counts from there. */
  startedAtMs: number;
  wasHandedOver: boolean;
  laterReplyHandle: string | undefined;
  language: Language;
  /** Called when a write is refused because a newer epoch exists. */
  fenced(): void;
  /** Stores the full answer before a post that cannot be taken back; false when fenced. */
  storeAnswer(text: string): Promise<boolean>;
}

/**
 * One visible answer while it grows, on a platform that pulls: every look is a snapshot in Redis that any receiver can
 * serve, written under the conversation's epoch. The first text is written at once, later ones at the platform's pace,
 * always the newest whole text.
 */
export class LiveReply {
  readonly #options: LiveReplyOptions;
  #view: ReplyView = { text: '', finished: false };
  #isDirty = false;
  #isClosed = false;
  #writing: Promise<void> | undefined;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #hasShownText = false;
  #hasWritten = false;
  #isHandedOver: boolean;
  #endPause: (() => void) | undefined;

  constructor(options: LiveReplyOptions) {
    this.#options = options;
    this.#isHandedOver = options.wasHandedOver;
  }

  /** Shows a look soon. Returns at once; a refused write ends the turn through `fenced`. */
  show(view: { text: string; status?: string }): void {
    if (this.#isClosed) return;
    const isFirstText = view.text !== '' && this.#view.text === '';
    this.#view = { ...view, finished: false };
    this.#isDirty = true;
    if (isFirstText) this.#endPause?.();
    this.#writing ??= this.#writeWhileDirty().finally(() => (this.#writing = undefined));
  }

  /** Whether the answer must go the platform's other way since the live reply's time is (nearly) over. */
  get isHandedOver(): boolean {
    const { nowMs, startedAtMs, platform } = this.#options;
    const { liveLifetimeMs, handoverMarginMs } = platform.replyTraits;
    return this.#isHandedOver || nowMs() - startedAtMs >= liveLifetimeMs - handoverMarginMs - HANDOVER_GUARD_MS;
  }

  /**
   * Ends the reply with its final text: in the live message, or by a later one.
   * @returns the records that the commit writes; with them the answer is visible
   */
  async finish(text: string, status?: string): Promise<FinalRecord[]> {
    await this.close();
    const { platform, language } = this.#options;
    const [first = '', ...rest] = platform.splitReply(text);
    const merged = this.#mergedRecords();
    if (this.isHandedOver) {
      const result = await postLater(this.#options, text, [first, ...rest]);
      const notice = say(
        REPLY_TEXTS[result === 'unavailable' || result === 'refused' ? 'tookTooLong' : 'followsBelow'],
        language,
      );
      return [this.#record({ text: notice, finished: true }, { handedOver: '1', delivery: result }), ...merged];
    }
    const delivery = rest.length > 0 ? await postLater(this.#options, text, rest) : 'live';
    const isCut = delivery === 'unavailable' || delivery === 'refused';
    const shown = isCut ? withCutNotice(platform, text, language) : first;
    return [
      this.#record({ text: shown, ...(status === undefined ? {} : { status }), finished: true }, { delivery }),
      ...merged,
    ];
  }

  /** Leaves the reply open with this look, to grow later (a question that waits for its sender's sign-in). */
  async leaveOpen(text: string): Promise<FinalRecord[]> {
    await this.close();
    const open = this.#record({ text, finished: false }, { keep: '1' });
    return [open, ...this.#mergedRecords()];
  }

  /** Writes nothing more and waits for the write under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isDirty = false;
    this.#endPause?.();
    await this.#writing;
  }

  async #writeWhileDirty(): Promise<void> {
    const { nowMs, platform } = this.#options;
    while (this.#isDirty) {
      const pauseMs = this.#lastWriteMs + platform.replyTraits.minEditGapMs - nowMs();
      const isFirstText = this.#view.text !== '' && !this.#hasShownText;
      if (pauseMs > 0 && !isFirstText) await this.#pause(pauseMs);
      if (this.#isClosed) return;
      this.#isDirty = false;
      this.#lastWriteMs = nowMs();
      await this.#write(this.#view);
    }
  }

  async #write(view: ReplyView): Promise<void> {
    const { redis, conversation, epoch, deliveryId, mergedIds, fenced, nowMs, startedAtMs, report, platform } =
      this.#options;
    const ids = this.#lastShownIds(deliveryId, mergedIds);
    const looks = ids.map((id) =>
      id === deliveryId ? [this.#seal(id, view), '0', '0'] : [this.#sealMerged(id), '1', '0'],
    );
    const keys = [conversationKeys(conversation).state, ...ids.map((id) => messageKey(conversation.partition, id))];
    const [verdict, handedOver] = (await showScript.run(redis, keys, [epoch, ...looks.flat()])) as [string, string];
    if (verdict === 'stale') return fenced();
    this.#isHandedOver ||= handedOver === '1';
    if (view.text !== '' && !this.#hasShownText) {
      this.#hasShownText = true;
      report.firstTextShown({ platform: platform.name, afterMs: nowMs() - startedAtMs });
    }
  }

  /** The merged messages are pointed to the answer once, by the first write. */
  #lastShownIds(deliveryId: string, mergedIds: string[]): string[] {
    const isFirstWrite = !this.#hasWritten;
    this.#hasWritten = true;
    return isFirstWrite ? [deliveryId, ...mergedIds] : [deliveryId];
  }

  #mergedRecords(): FinalRecord[] {
    return this.#options.mergedIds.map((id) => ({ id, fields: ['content', this.#sealMerged(id), 'finished', '1'] }));
  }

  #record(view: ReplyView, extra: Record<string, string>): FinalRecord {
    const { deliveryId } = this.#options;
    const fields = [
      'content',
      this.#seal(deliveryId, view),
      'finished',
      view.finished ? '1' : '0',
      ...Object.entries(extra).flat(),
    ];
    return { id: deliveryId, fields };
  }

  #seal(id: string, view: ReplyView): string {
    return this.#options.keyRing.seal(CONTENT_PURPOSE, id, this.#options.platform.renderReply(view));
  }

  #sealMerged(id: string): string {
    return this.#seal(id, { text: say(REPLY_TEXTS.answeredBelow, this.#options.language), finished: true });
  }

  /** Waits, but no longer than until the first text comes or the reply is closed. */
  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
