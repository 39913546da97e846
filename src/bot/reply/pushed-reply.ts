import { fieldsToRead, messageFields, postFieldOf, type MessageValues } from '../domain/message-record.ts';
import { say } from '../../shared/text/texts.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { messageKey } from '../domain/partition-keys.ts';
import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { PlatformError } from '../platforms/platform-error.ts';
import type { FoundPosts, PushReplies } from '../platforms/platform.ts';
import type { AnswerEnd, ReplySnapshot, ReplyView } from '../domain/reply.ts';
import { isLongAnswer } from '../platforms/split-answer.ts';
import type { ApartFromText, FinalRecord, LiveReply, LiveReplyOptions } from './live-reply.ts';
import { finalSnapshot, roomFor } from './final-snapshot.ts';
import { finalOffers, growingOffers } from './actions.ts';
import { endedInTime, isOver, pauseOrEnd, shownNoMore } from './turn-abort.ts';
import { doubtedAgeMs, settledAfterMs } from './reconcile-post.ts';
import { pauseAfterRefused, Refusals } from './after-refusal.ts';
import { EditThrottle } from './edit-throttle.ts';
import { createPostLedger, postKeyOf, type PostLedger } from './post-ledger.ts';
import { PostedMessage, type PostedMessageResult } from './posted-message.ts';
import { ANSWER_FILE_NAME, MOST_MESSAGES, showAsFile } from './answer-file.ts';

/** The final text has a budget of its own (SECURITY.md whole-texts): so long it is tried to be shown. */
const FINAL_BUDGET_MS = 10 * MINUTE_MS;
/** So long an answer is tried at once although the platform takes no calls; then its turn makes room and is taken again later. */
const UNAUTHORISED_TRIED_MS = 5 * SECOND_MS;
/** After so long without any snapshot it is said that the question is being answered; most answers begin before. */
const SILENT_MS = 700;
const LONGEST_PAUSE_MS = 30 * SECOND_MS;
/** How often a message that was replaced is tried to be deleted at once, and when it is tried for the last time. */
const LEFT_REMOVED_TRIES = 3;
const LEFT_REMOVED_AFTER_MS = 30 * SECOND_MS;
/** So often it is tried to see whether an answer stands already, before the question is answered (again). */
const WHOLE_LOOKED_FOR = 3;

/** How a finished answer was delivered, for the ledger. */
type Delivery = 'live' | 'refused' | 'uncertain' | 'unavailable' | 'removed';

/**
 * One visible answer while it grows, on a platform that we post to. Each snapshot is a whole text under a fence; a worker
 * that takes over finds the message in the ledger, or in the platform, and goes on in the same one.
 */
export class PushedReply implements LiveReply {
  readonly #options: LiveReplyOptions;
  readonly #push: PushReplies;
  readonly #pacer: EditThrottle;
  readonly #parts: PostedMessage[] = [];
  readonly #ledger: PostLedger;
  #isFinishing = false;
  #hasShownText = false;
  #refusedInARow = 0;
  #status: string | undefined;
  #hasLook = false;
  /** Runs while the model was asked and nothing of its answer has come. */
  #silence: NodeJS.Timeout | undefined;

  constructor(options: LiveReplyOptions, push: PushReplies) {
    this.#options = options;
    this.#push = push;
    // A worker that died may have left a status line.
    this.#status = options.claim.wasBegun ? undefined : '';
    const { deliveryId, replyTarget } = options;
    this.#ledger = createPostLedger({
      redis: options.deps.redis,
      conversation: options.claim.conversation,
      epoch: options.claim.epoch,
      deliveryId,
      place: replyTarget === undefined ? '' : push.placeOf(replyTarget),
      doubtedAgeMs: doubtedAgeMs(options.platform.replyTraits),
    });
    this.#pacer = new EditThrottle({
      minGapMs: options.platform.replyTraits.minEditGapMs,
      nowMs: monotonicMs,
      write: (view) => this.#write(view),
      onError: (error) => options.deps.log.debug({ error, trace: deliveryId }, 'a look of an answer was not written'),
    });
  }

  async findWhole(otherTargets: readonly string[] = []): Promise<FinalRecord[] | undefined> {
    const { replyTarget } = this.#options;
    if (replyTarget === undefined) return undefined;
    const places = new Map([replyTarget, ...otherTargets].reverse().map((one) => [this.#push.placeOf(one), one]));
    for (const target of [...places.values()].reverse()) {
      const found = await this.#lookFor(target);
      // Where it cannot be looked now, elsewhere it cannot be either.
      if (!found) return undefined;
      const [handle] = found.keyed;
      if (found.isWhole !== true) continue;
      return [this.#record(definedOnly({ finished: '1', delivery: 'live', [postFieldOf(0)]: handle }))];
    }
    return undefined;
  }

  async #lookFor(target: string): Promise<FoundPosts | undefined> {
    const { deliveryId, platform, controls } = this.#options;
    const { signal } = controls;
    for (let tries = 0; tries < WHOLE_LOOKED_FOR && !isOver(signal); tries += 1) {
      const found = await this.#push.find(target, postKeyOf(deliveryId, 0));
      if (found !== 'unknown') return found;
      await pauseOrEnd(platform.replyTraits.lookUpAfterMs, signal);
    }
    return undefined;
  }

  prepare(): void {
    this.#part(0)?.prepare();
    if (!this.#hasLook) this.#silence ??= setTimeout(() => this.#sayThatItComes(), SILENT_MS);
  }

  show(view: Omit<ReplyView, 'finished'>): void {
    this.#hasLook = true;
    clearTimeout(this.#silence);
    this.#pacer.show(view);
  }

  /** The platform itself shows nothing while a question is being answered. */
  #sayThatItComes(): void {
    if (!this.#hasLook) this.#pacer.show({ text: '', status: say(REPLY_TEXTS.answering, this.#options.language) });
  }

  /**
   * The full text is stored before the last edit, so that whoever takes over neither asks the model again nor loses it (
   * SECURITY.md noted-before-posted): with the fence's question, or by itself where it is long, since cutting it takes time.
   */
  async finish(text: string, { status, mention, offers }: ApartFromText = {}): Promise<FinalRecord[]> {
    this.#isFinishing = true;
    await this.close();
    const { platform, controls } = this.#options;
    const isLong = isLongAnswer(text, platform.replyTraits.maxBytes);
    if (isLong && !(await controls.storeAnswer(text))) return [];
    const { language } = this.#options;
    const inFile = say(REPLY_TEXTS.restInFile, language, { name: ANSWER_FILE_NAME });
    const statusWithFile = status === undefined ? inFile : `${inFile}\n${status}`;
    const cut = await platform.splitAnswer(text, roomFor(isLong ? statusWithFile : status));
    const isInFile = await this.#standsInFile(text, cut, mention);
    const pieces = isInFile ? cut.slice(0, 1) : cut;
    const said = isInFile ? statusWithFile : status;
    let delivery: Delivery = 'live';
    for (const [part, piece] of pieces.entries()) {
      const isLast = part === pieces.length - 1;
      const called = part === 0 ? mention : undefined;
      const snapshot = {
        ...finalSnapshot(platform, piece, isLast ? said : undefined, called),
        offers: isLast ? finalOffers(this.#options, offers) : undefined,
        ends: this.#endsWith(pieces.length),
      };
      const answer = part === 0 && !isLong ? controls.sealAnswer(text) : undefined;
      delivery = await this.#persist(part, snapshot, answer);
      if (delivery === 'refused') delivery = await this.#showInPlace(part, text, snapshot);
      if (delivery !== 'live') break;
      this.#lookAfter(part, snapshot);
      // Of the last one the commit, which follows, writes down where it stands.
      if (!isLast) await this.#recordPart(part);
    }
    return this.#hasLost() ? [] : [this.#record({ finished: '1', delivery })];
  }

  /** An answer of many messages stands in a file, where the platform takes one; its beginning stays in the chat. */
  async #standsInFile(text: string, pieces: readonly string[], mention: string | undefined): Promise<boolean> {
    const { replyTarget: target, platform, controls } = this.#options;
    const { files } = this.#push;
    if (!files || target === undefined || pieces.length <= MOST_MESSAGES || !files.canShow(target)) return false;
    const beginning = platform.renderReply({ text: pieces[0] ?? '', mention, finished: false });
    const result = await showAsFile({
      ...{ files, target, text, ledger: this.#ledger, signal: controls.signal },
      showBeginning: async () =>
        this.#parts[0]?.handle !== undefined ||
        (await this.#persist(0, { content: beginning, finished: false })) === 'live',
    });
    if (result === 'fenced') this.#note({ result });
    return result === 'stands';
  }

  /** What the platform refused as a message stands as a file, or a sentence stands in its place, and the operator is told. */
  async #showInPlace(part: number, text: string, snapshot: ReplySnapshot): Promise<Delivery> {
    const { replyTarget: target, platform, controls, language, asker } = this.#options;
    const { files } = this.#push;
    if (files && target !== undefined && files.canShow(target)) {
      const { signal } = controls;
      const shown = { files, target, text, ledger: this.#ledger, signal, showBeginning: async () => true };
      const result = await showAsFile({ ...shown, isLastResort: true });
      if (result === 'fenced') this.#note({ result });
      if (result === 'stands') await this.#removeLeft(part);
      if (result !== 'messages') return result === 'stands' ? 'live' : 'uncertain';
    }
    const sentence = say(REPLY_TEXTS.notTaken, language);
    const content = platform.renderReply({ text: sentence, finished: true });
    const delivery = await this.#persist(part, { content, finished: true, ends: snapshot.ends });
    if (delivery === 'uncertain') return delivery;
    this.#tellNotShown();
    if (delivery !== 'live' && asker) await platform.writePrivately?.(asker().userId, sentence);
    return 'refused';
  }

  #tellNotShown(): void {
    const { deps, platform, deliveryId } = this.#options;
    deps.report.answerNotShown({ platform: platform.name, deliveryId });
  }

  /** A message that was replaced is taken away, or says where the answer stands. */
  async #removeLeft(part: number): Promise<void> {
    const { controls, deps, language, platform } = this.#options;
    const message = this.#parts[part];
    if (message?.hasLeft !== true) return;
    const mark = platform.renderReply({ text: say(REPLY_TEXTS.answeredBelow, language), finished: true });
    for (let tries = 0; tries < LEFT_REMOVED_TRIES && !isOver(controls.signal); tries += 1) {
      if (await message.removeLeft(mark)) return;
      await pauseOrEnd(SECOND_MS, controls.signal);
    }
    deps.afterCare.later(LEFT_REMOVED_AFTER_MS, async () => {
      await message.removeLeft(mark);
    });
  }

  async takeAway(text: string): Promise<FinalRecord[]> {
    this.#isFinishing = true;
    await this.close();
    const stands = (await this.#part(0)?.standing()) ?? 'nothing';
    const isGone = async (handle: string) => (await this.#push.remove(handle, false)) === 'gone';
    const removed = () => [this.#record({ finished: '1', delivery: 'removed' })];
    await this.#clearStatus();
    if (stands === 'nothing') return removed();
    if (stands !== 'unclear' && !isOver(this.#options.controls.signal) && (await isGone(stands.handle)))
      return removed();
    // What may stand twice, or not at all, is brought to one message first.
    const records = await this.finish(text);
    const handle = this.#parts[0]?.handle;
    const mayRemove = handle !== undefined && stands === 'unclear' && !isOver(this.#options.controls.signal);
    return mayRemove && (await isGone(handle)) ? removed() : records;
  }

  async leaveOpen(text: string, mention?: string): Promise<FinalRecord[]> {
    this.#isFinishing = true;
    await this.close();
    const content = this.#options.platform.renderReply({ text, mention, finished: false });
    const delivery = await this.#persist(0, { content, finished: false, staysOpen: true });
    if (delivery === 'refused') this.#tellNotShown();
    return [this.#record({ finished: '0', keep: '1', delivery })];
  }

  async close(): Promise<void> {
    clearTimeout(this.#silence);
    const closed = this.#pacer.close();
    if (!closed) return;
    const { signal } = this.#options.controls;
    // A stop waits for the write under way no longer than it may.
    const cutShort = shownNoMore(signal).then(() => endedInTime(closed));
    await Promise.race([closed, cutShort]);
  }

  async abandon(): Promise<void> {
    clearTimeout(this.#silence);
    const closed = this.#pacer.close();
    const leave = async () => {
      await closed;
      for (const part of this.#parts) await part.leave();
    };
    // Nobody waits for a turn that is another worker's; what was cut short is found in the ledger as uncertain.
    if (!this.#hasLost()) await endedInTime(leave());
  }

  /** One try at a snapshot that another will follow. */
  async #write(view: ReplyView): Promise<number | undefined> {
    const content = this.#options.platform.renderReply(view);
    if (content === '') return this.#showStatus(view.status);
    const offers = growingOffers(this.#options);
    const tried = await this.#part(0)?.sync({ content, finished: false, offers });
    if (tried?.result === 'wait') return tried.pauseMs;
    if (tried) this.#note(tried);
    this.#refusedInARow = tried?.result === 'refused' ? this.#refusedInARow + 1 : 0;
    // A refusal costs this snapshot only; the next one is tried.
    if (tried?.result === 'refused') return pauseAfterRefused(this.#refusedInARow);
    if (tried?.result === 'shown') await this.#clearStatus();
    // The last snapshot, which follows at once, writes it down as well.
    if (!this.#isFinishing) await this.#recordPart(0);
    return undefined;
  }

  #lookAfter(part: number, snapshot: Omit<ReplySnapshot, 'shown'>): void {
    const { platform, deliveryId, claim, deps } = this.#options;
    const work = this.#parts[part]?.lookAfter(snapshot);
    if (!work) return;
    const isStanding = async (handle: string) => {
      const fields = fieldsToRead('state', postFieldOf(part), 'replaced');
      const [state, stands, replaced] = await deps.redis.hmget(
        messageKey(claim.conversation.partition, deliveryId),
        ...fields,
      );
      return state === 'final' && stands === handle && replaced === null;
    };
    deps.afterCare.later(settledAfterMs(platform.replyTraits), () => work(isStanding));
  }

  async #recordPart(part: number): Promise<void> {
    if ((await this.#parts[part]?.record()) === false) this.#note({ result: 'fenced' });
  }

  #endsWith(parts: number): AnswerEnd {
    const { deliveryId, mergedIds } = this.#options;
    return { lastKey: postKeyOf(deliveryId, parts - 1), mergedKeys: mergedIds.map((id) => postKeyOf(id, 0)) };
  }

  #hasLost(): boolean {
    return this.#options.controls.signal.reason === 'fenced';
  }

  /** Tries until the snapshot stands, in a new message where the old one takes no more, the platform refuses it for good, or its time is over. */
  async #persist(part: number, snapshot: Omit<ReplySnapshot, 'shown'>, answer?: string): Promise<Delivery> {
    const { signal, waitIdle } = this.#options.controls;
    const target = this.#part(part);
    if (!target) return 'unavailable';
    const refusals = new Refusals(this.#options.platform.replyTraits, monotonicMs);
    const untilMs = monotonicMs() + FINAL_BUDGET_MS;
    let unauthorisedSinceMs: number | undefined;
    for (let attempt = 0; ; attempt += 1) {
      if (isOver(signal)) return 'uncertain';
      const tried = await target.sync(snapshot, answer);
      if (tried.result === 'shown') {
        this.#note(tried);
        await this.#removeLeft(part);
        await this.#clearStatus();
        return 'live';
      }
      if (tried.result === 'refused') {
        const after = refusals.after(tried.why, target.handle !== undefined);
        if (after.next === 'give-up' || monotonicMs() >= untilMs) return 'refused';
        if (after.next === 'replace') target.leaveMessage();
        else await pauseOrEnd(after.pauseMs, signal);
        continue;
      }
      if (tried.result !== 'wait') {
        this.#note(tried);
        return 'uncertain';
      }
      unauthorisedSinceMs = tried.why === 'unauthorised' ? (unauthorisedSinceMs ?? monotonicMs()) : undefined;
      if (this.#isToBeKept(unauthorisedSinceMs)) throw this.#kept();
      const pauseMs = Math.max(tried.pauseMs, Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(attempt, 10)));
      if (monotonicMs() + pauseMs >= untilMs) return 'uncertain';
      // The pause may end early only when nothing more may be shown; a stop word does not take the answer away.
      const wait = () => pauseOrEnd(pauseMs, signal);
      // What a platform may still carry out is waited for so long that another fault may well come meanwhile.
      await (pauseMs < SECOND_MS ? wait() : waitIdle(wait));
    }
  }

  /** A turn that only the operator can help along holds no worker's place for long; one that is a day old is given up. */
  #isToBeKept(unauthorisedSinceMs: number | undefined): boolean {
    if (unauthorisedSinceMs === undefined) return false;
    const { deps, claim } = this.#options;
    return monotonicMs() - unauthorisedSinceMs >= UNAUTHORISED_TRIED_MS && deps.nowMs() - claim.startedAtMs < DAY_MS;
  }

  /** The answer is stored, so that the turn, taken again later, posts it and asks nobody. */
  #kept(): PlatformError {
    const { deps, platform, deliveryId } = this.#options;
    deps.report.answerKept({ platform: platform.name, deliveryId });
    return new PlatformError('unauthorised', `${platform.name} takes no calls`);
  }

  #note({ result }: PostedMessageResult): void {
    const { deps, platform, deliveryId, claim, controls } = this.#options;
    if (result === 'fenced') return controls.fenced();
    if (result === 'stopped') return controls.stopped();
    if (result === 'shown' && !this.#hasShownText) {
      this.#hasShownText = true;
      const afterMs = deps.nowMs() - claim.startedAtMs;
      deps.report.firstTextShown({ platform: platform.name, deliveryId, afterMs });
    }
  }

  async #showStatus(status = ''): Promise<undefined> {
    const { replyTarget } = this.#options;
    if (status === this.#status || replyTarget === undefined) return;
    this.#status = status;
    await this.#push.showStatus?.(replyTarget, status);
  }

  /** A post clears the status line, an edit does not. */
  async #clearStatus(): Promise<void> {
    if (this.#status !== '') await this.#showStatus('');
  }

  #part(part: number): PostedMessage | undefined {
    const begun = this.#parts[part];
    if (begun) return begun;
    const { platform, replyTarget: target, deliveryId, claim, controls } = this.#options;
    const push = this.#push;
    if (target === undefined) return undefined;
    const place = {
      ...{ push, target, ledger: this.#ledger, deliveryId, part, traits: platform.replyTraits },
      ...{ wasBegun: claim.wasBegun, isClaimHeld: controls.isClaimHeld },
    };
    return (this.#parts[part] = new PostedMessage(place));
  }

  #record(fields: MessageValues): FinalRecord {
    const places: Record<ReturnType<typeof postFieldOf>, string> = {};
    for (const [part, { unrecorded }] of this.#parts.entries()) if (unrecorded) places[postFieldOf(part)] = unrecorded;
    return { id: this.#options.deliveryId, fields: messageFields({ ...fields, ...places }) };
  }
}
