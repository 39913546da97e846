import { messageFields, postFieldOf, type MessageValues } from '../domain/message-record.ts';
import { localize } from '../../shared/text/texts.ts';
import { REPLY_TEXTS } from '../i18n/reply-texts.ts';
import { DAY_MS, MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import { PlatformError } from '../platforms/platform-error.ts';
import type { PostLookupResult, PushReplies, Platform } from '../platforms/platform.ts';
import type { AnswerEnd, ReplySnapshot, ReplyView } from '../domain/reply.ts';
import { isLongAnswer } from '../platforms/split-answer.ts';
import type { ReplyExtras, FinalRecord, LiveReply, LiveReplyOptions } from './live-reply.ts';
import { finalActions, growingActions } from './actions.ts';
import { endedInTime, isSuperseded, pauseUnlessSuperseded, untilSuperseded } from './turn-abort.ts';
import { doubtedAgeMs, settledAfterMs } from './reconcile-post.ts';
import { pauseAfterRefused, RefusalRetryPolicy, RetryPauses } from './after-refusal.ts';
import { removeAbandoned, type AnswerCheck } from './deferred-reconciliation.ts';
import { bindSpan } from '../../shared/tracing/tracing.ts';
import { EditThrottle } from './edit-throttle.ts';
import { createPostLedger, postKeyOf, type PostLedger } from './post-ledger.ts';
import { PostedMessage, type PostedMessageResult } from './posted-message.ts';
import { ANSWER_FILE_NAME, MAX_MESSAGES, showAsFile } from './answer-file.ts';

/** Time limit for showing the final text (SECURITY.md whole-texts). */
const FINAL_BUDGET_MS = 10 * MINUTE_MS;
/** How long an answer is retried while the platform refuses all calls. Then its turn is released and retried later. */
const UNAUTHORISED_TRIED_MS = 5 * SECOND_MS;
/** Delay before the "answering" notice is shown if there is no snapshot yet; most answers begin earlier. */
const SILENT_MS = 700;
/** Maximum immediate attempts to delete a replaced message. One more attempt follows after the delay. */
const LEFT_REMOVED_TRIES = 3;
const LEFT_REMOVED_AFTER_MS = 30 * SECOND_MS;
/** Maximum lookups of an existing answer before the question is answered (again). */
const MAX_LOOKUPS = 3;

/** Delivery result of a finished answer, for its record. */
type Delivery = 'live' | 'refused' | 'uncertain' | 'unavailable' | 'removed';

/**
 * One visible answer while it grows, on a platform to which we post. Each snapshot is a complete text under a fence. A
 * worker that takes over finds the message in the ledger or on the platform, and continues in it.
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
  /** A call that set or cleared the status line may be carried out late, or not at all. */
  #isStatusDoubtful = false;
  #hasSnapshot = false;
  /** Timer of the "answering" notice; runs from the request to the model until the first part of its answer. */
  #silence: NodeJS.Timeout | undefined;
  #preparing: NodeJS.Immediate | undefined;

  constructor(options: LiveReplyOptions, push: PushReplies) {
    this.#options = options;
    this.#push = push;
    // A dead worker may have left a status line.
    this.#status = options.claim.wasBegun ? undefined : '';
    const { deliveryId, replyTarget } = options;
    this.#ledger = createPostLedger({
      redis: options.deps.redis,
      conversation: options.claim.conversation,
      epoch: options.claim.epoch,
      trace: options.claim.trace,
      deliveryId,
      place: replyTarget === undefined ? '' : push.placeOf(replyTarget),
      doubtedAgeMs: doubtedAgeMs(options.platform.replyTraits),
    });
    this.#pacer = new EditThrottle({
      minGapMs: options.platform.replyTraits.minEditGapMs,
      nowMs: monotonicMs,
      // Called while the model's answer is read, but a step of the turn.
      write: bindSpan((view: ReplyView) => this.#write(view)),
      onError: (error) =>
        options.deps.log.debug({ error, trace: deliveryId }, 'a snapshot of an answer could not be stored'),
    });
  }

  async findCompleteAnswer(otherTargets: readonly string[] = []): Promise<FinalRecord[] | undefined> {
    const { replyTarget } = this.#options;
    if (replyTarget === undefined) return undefined;
    const places = new Map([replyTarget, ...otherTargets].reverse().map((one) => [this.#push.placeOf(one), one]));
    for (const target of [...places.values()].reverse()) {
      const found = await this.#find(target);
      // If this lookup fails now, a lookup in another place fails too.
      if (!found) return undefined;
      const [handle] = found.keyed;
      if (found.isComplete !== true) continue;
      return [this.#record(definedOnly({ finished: '1', delivery: 'live', [postFieldOf(0)]: handle }))];
    }
    return undefined;
  }

  async #find(target: string): Promise<PostLookupResult | undefined> {
    const { deliveryId, platform, controls } = this.#options;
    const { signal } = controls;
    for (let tries = 0; tries < MAX_LOOKUPS && !isSuperseded(signal); tries += 1) {
      const found = await this.#push.find(target, postKeyOf(deliveryId, 0));
      if (found !== 'unknown') return found;
      await pauseUnlessSuperseded(platform.replyTraits.lookUpAfterMs, signal);
    }
    return undefined;
  }

  prepare(): void {
    clearImmediate(this.#preparing);
    // An answer that arrives whole in this event-loop turn needs no early check: `finish` checks the fence itself.
    this.#preparing = setImmediate(() => this.#part(0)?.prepare());
    if (!this.#hasSnapshot) this.#silence ??= setTimeout(() => this.#showAnsweringNotice(), SILENT_MS);
  }

  show(view: Omit<ReplyView, 'finished'>): void {
    this.#hasSnapshot = true;
    clearTimeout(this.#silence);
    this.#pacer.show(view);
  }

  /** Shows the "answering" notice, because the platform itself shows nothing while a question is being answered. */
  #showAnsweringNotice(): void {
    if (!this.#hasSnapshot)
      this.#pacer.show({ text: '', status: localize(REPLY_TEXTS.answering, this.#options.language) });
  }

  /**
   * Stores the full text before the last edit, so that a worker that takes over neither asks the model again nor loses it
   * (SECURITY.md noted-before-posted). A short text is stored with the fence check; a long one in a separate step, because
   * splitting it takes time.
   */
  async finish(text: string, { status, mention, offers, fileHeader = '' }: ReplyExtras = {}): Promise<FinalRecord[]> {
    this.#isFinishing = true;
    await this.close();
    const { platform, controls } = this.#options;
    const isLong = isLongAnswer(text, platform.replyTraits.maxBytes);
    if (isLong && !(await controls.storeAnswer(text))) return [];
    const statusWithFile = isLong ? this.#tellOfFile(status) : status;
    const cut = await platform.splitAnswer(text, roomFor(statusWithFile));
    const inFull = fileHeader + text;
    const isInFile = await this.#standsInFile(inFull, cut, mention);
    const pieces = isInFile ? cut.slice(0, 1) : cut;
    const said = isInFile ? statusWithFile : status;
    let delivery: Delivery = 'live';
    for (const [part, piece] of pieces.entries()) {
      const isLast = part === pieces.length - 1;
      const called = part === 0 ? mention : undefined;
      const snapshot = finalSnapshot(platform, piece, isLast ? said : undefined, called);
      snapshot.offers = isLast ? finalActions(this.#options, offers) : undefined;
      snapshot.ends = this.#endsWith(pieces.length);
      const answer = part === 0 && !isLong ? controls.sealAnswer(text) : undefined;
      delivery = await this.#persist(part, snapshot, answer);
      if (delivery === 'refused') delivery = await this.#showInPlace(part, inFull, snapshot);
      if (delivery !== 'live') break;
      await this.#scheduleReconciliation(part, snapshot);
      // The commit that follows records the handle of the last part.
      if (!isLast) await this.#recordPart(part);
    }
    return this.#isFenced() ? [] : [this.#record({ finished: '1', delivery })];
  }

  #tellOfFile(status: string | undefined): string {
    const inFile = localize(REPLY_TEXTS.restInFile, this.#options.language, { name: ANSWER_FILE_NAME });
    return status === undefined ? inFile : `${inFile}\n${status}`;
  }

  /** Shows an answer of many messages as a file, where the platform takes files; its beginning stays in the chat. */
  async #standsInFile(text: string, pieces: readonly string[], mention: string | undefined): Promise<boolean> {
    const { replyTarget: target, platform, controls } = this.#options;
    const { files } = this.#push;
    if (!files || target === undefined || pieces.length <= MAX_MESSAGES || !files.canShow(target)) return false;
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

  /**
   * Delivers a message that the platform refused as a file. If that fails, shows a notice in its place and alerts the
   * operator.
   */
  async #showInPlace(part: number, text: string, snapshot: ReplySnapshot): Promise<Delivery> {
    const { replyTarget: target, platform, controls, language, asker } = this.#options;
    const { files } = this.#push;
    if (files && target !== undefined && files.canShow(target)) {
      const { signal } = controls;
      const shown = { files, target, text, ledger: this.#ledger, signal, showBeginning: async () => true };
      const result = await showAsFile({ ...shown, isLastResort: true });
      if (result === 'fenced') this.#note({ result });
      if (result === 'stands') await this.#removeAbandoned(part);
      if (result !== 'messages') return result === 'stands' ? 'live' : 'uncertain';
    }
    const sentence = localize(REPLY_TEXTS.notTaken, language);
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

  /** Removes a replaced message, or edits it to say where the answer is. */
  async #removeAbandoned(part: number): Promise<void> {
    const { controls, language, platform, deliveryId } = this.#options;
    const left = this.#parts[part]?.left ?? [];
    if (left.length === 0) return;
    const mark = platform.renderReply({ text: localize(REPLY_TEXTS.answeredBelow, language), finished: true });
    for (let tries = 0; tries < LEFT_REMOVED_TRIES && !isSuperseded(controls.signal); tries += 1) {
      if (await removeAbandoned(this.#push, { deliveryId, part, left }, mark)) return;
      await pauseUnlessSuperseded(SECOND_MS, controls.signal);
    }
    await this.#checkLater(LEFT_REMOVED_AFTER_MS, part, { kind: 'remove-left', mark });
  }

  async retract(text: string): Promise<FinalRecord[]> {
    this.#isFinishing = true;
    await this.close();
    const stands = (await this.#part(0)?.standing()) ?? 'nothing';
    const isGone = async (handle: string) => (await this.#push.remove(handle, false)) === 'gone';
    const removed = () => [this.#record({ finished: '1', delivery: 'removed' })];
    await this.#clearStatus();
    if (stands === 'nothing') return removed();
    if (stands !== 'unclear' && !isSuperseded(this.#options.controls.signal) && (await isGone(stands.handle)))
      return removed();
    // A message of unknown fate is first reconciled to exactly one.
    const records = await this.finish(text);
    const handle = this.#parts[0]?.handle;
    const mayRemove = handle !== undefined && stands === 'unclear' && !isSuperseded(this.#options.controls.signal);
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
    const closed = this.#stopWriting();
    if (!closed) return;
    const { signal } = this.#options.controls;
    // A stop limits the wait for the write in progress.
    const cutShort = untilSuperseded(signal).then(() => endedInTime(closed));
    await Promise.race([closed, cutShort]);
  }

  /** @returns a promise of the write in progress; undefined if there is none */
  #stopWriting(): Promise<void> | undefined {
    clearTimeout(this.#silence);
    clearImmediate(this.#preparing);
    return this.#pacer.close();
  }

  async abandon(): Promise<void> {
    const closed = this.#stopWriting();
    const leave = async () => {
      await closed;
      for (const part of this.#parts) await part.leave();
    };
    // A turn that another worker owns is not waited for. The ledger marks an interrupted post as uncertain.
    if (!this.#isFenced()) await endedInTime(leave());
  }

  /** Makes one attempt to write a snapshot that another will follow. */
  async #write(view: ReplyView): Promise<number | undefined> {
    const content = this.#options.platform.renderReply(view);
    if (content === '') return this.#showStatus(view.status);
    const offers = growingActions(this.#options);
    const tried = await this.#part(0)?.sync({ content, finished: false, offers });
    if (tried?.result === 'wait') return tried.pauseMs;
    if (tried) this.#note(tried);
    this.#refusedInARow = tried?.result === 'refused' ? this.#refusedInARow + 1 : 0;
    // A refusal costs only this snapshot; the next one is tried.
    if (tried?.result === 'refused') return pauseAfterRefused(this.#refusedInARow);
    if (tried?.result === 'shown') await this.#clearStatus();
    // The final snapshot, which follows at once, also records the handle.
    if (!this.#isFinishing) await this.#recordPart(0);
    return undefined;
  }

  /** Schedules a check of a part that shows its final snapshot, if a call of unknown fate may still change it or the status line. */
  async #scheduleReconciliation(part: number, snapshot: Omit<ReplySnapshot, 'shown'>): Promise<void> {
    const { handle, mayStillChange = false } = this.#parts[part] ?? {};
    const clearsStatus = this.#isStatusDoubtful;
    if (!(mayStillChange || clearsStatus) || handle === undefined) return;
    const afterMs = settledAfterMs(this.#options.platform.replyTraits);
    await this.#checkLater(afterMs, part, { kind: 'restore', handle, snapshot, clearsStatus });
  }

  async #checkLater(afterMs: number, part: number, work: AnswerCheck['work']): Promise<void> {
    const { deps, platform, claim, deliveryId, replyTarget: target } = this.#options;
    if (target === undefined) return;
    const place = { platform: platform.name, conversation: claim.conversation, deliveryId, part, target };
    await deps.reconciliation.later(afterMs, { ...place, left: this.#parts[part]?.left ?? [], work });
  }

  async #recordPart(part: number): Promise<void> {
    if ((await this.#parts[part]?.record()) === false) this.#note({ result: 'fenced' });
  }

  #endsWith(parts: number): AnswerEnd {
    const { deliveryId, mergedIds } = this.#options;
    return { lastKey: postKeyOf(deliveryId, parts - 1), mergedKeys: mergedIds.map((id) => postKeyOf(id, 0)) };
  }

  #isFenced(): boolean {
    return this.#options.controls.signal.reason === 'fenced';
  }

  /**
   * Retries, in a new message if necessary, until the snapshot is shown, the platform refuses it for good, or the time limit
   * is reached.
   */
  async #persist(part: number, snapshot: Omit<ReplySnapshot, 'shown'>, answer?: string): Promise<Delivery> {
    const { signal, waitIdle } = this.#options.controls;
    const target = this.#part(part);
    if (!target) return 'unavailable';
    const refusals = new RefusalRetryPolicy(this.#options.platform.replyTraits, monotonicMs);
    const untilMs = monotonicMs() + FINAL_BUDGET_MS;
    let unauthorisedSinceMs: number | undefined;
    const pauses = new RetryPauses();
    for (;;) {
      if (isSuperseded(signal)) return 'uncertain';
      const tried = await target.sync(snapshot, answer);
      if (tried.result === 'shown') {
        this.#note(tried);
        await this.#removeAbandoned(part);
        await this.#clearStatus();
        return 'live';
      }
      if (tried.result === 'refused') {
        const after = refusals.after(tried.why, target.handle !== undefined);
        if (after.next === 'give-up' || monotonicMs() >= untilMs) return 'refused';
        if (after.next === 'replace') target.abandonMessage();
        else await pauseUnlessSuperseded(after.pauseMs, signal);
        continue;
      }
      if (tried.result !== 'wait') {
        this.#note(tried);
        return 'uncertain';
      }
      unauthorisedSinceMs = tried.why === 'unauthorised' ? (unauthorisedSinceMs ?? monotonicMs()) : undefined;
      if (this.#isToBeKept(unauthorisedSinceMs)) throw this.#kept();
      const pauseMs = pauses.after(tried);
      if (monotonicMs() + pauseMs >= untilMs) return 'uncertain';
      // The pause ends early only when nothing more may be shown; a stop command does not remove the answer.
      const wait = () => pauseUnlessSuperseded(pauseMs, signal);
      // A long wait may meet another fault, such as a worker crash, which must not count against this turn.
      await (pauseMs < SECOND_MS ? wait() : waitIdle(wait));
    }
  }

  /**
   * Whether to release a turn that only the operator can unblock, so that it does not occupy a worker. After a day the turn
   * is given up instead.
   */
  #isToBeKept(unauthorisedSinceMs: number | undefined): boolean {
    if (unauthorisedSinceMs === undefined) return false;
    const { deps, claim } = this.#options;
    return monotonicMs() - unauthorisedSinceMs >= UNAUTHORISED_TRIED_MS && deps.nowMs() - claim.startedAtMs < DAY_MS;
  }

  /** The answer is stored, so a retry of the turn posts it without asking the model. */
  #kept(): PlatformError {
    const { deps, platform, deliveryId } = this.#options;
    deps.report.answerKept({ platform: platform.name, deliveryId });
    return new PlatformError('unauthorised', `${platform.name} refuses all calls`);
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
    const { replyTarget, controls } = this.#options;
    if (status === this.#status || replyTarget === undefined) return;
    if (status !== '' && !controls.isClaimHeld()) return;
    this.#status = status;
    const isSettled = (await this.#push.showStatus?.(replyTarget, status)) ?? true;
    if (!isSettled) this.#isStatusDoubtful = true;
    // If this process was frozen and has lost its claim, the line would stay below another worker's answer.
    if (status !== '' && !controls.isClaimHeld()) await this.#showStatus('');
  }

  /** A post clears the platform's status line; an edit does not. */
  async #clearStatus(): Promise<void> {
    if (this.#status !== '') await this.#showStatus('');
  }

  #part(part: number): PostedMessage | undefined {
    const begun = this.#parts[part];
    if (begun) return begun;
    const { platform, replyTarget: target, deliveryId, claim, controls } = this.#options;
    const push = this.#push;
    if (target === undefined) return undefined;
    return (this.#parts[part] = new PostedMessage({
      push,
      target,
      ledger: this.#ledger,
      deliveryId,
      part,
      traits: platform.replyTraits,
      wasBegun: claim.wasBegun,
      trace: claim.trace,
      isClaimHeld: controls.isClaimHeld,
    }));
  }

  #record(fields: MessageValues): FinalRecord {
    const all = { ...fields };
    for (const [part, { unrecorded }] of this.#parts.entries()) if (unrecorded) all[postFieldOf(part)] = unrecorded;
    return { id: this.#options.deliveryId, fields: messageFields(all) };
  }
}

/** The final snapshot of an answer. The status is shown apart from the text; if there is no text, the status is the text. */
function finalSnapshot(
  platform: Platform,
  text: string,
  status?: string,
  mention?: string,
): Omit<ReplySnapshot, 'shown'> {
  const content = platform.renderReply({ text, status, mention, finished: true });
  return { content, note: text.trim() === '' ? undefined : status, finished: true };
}

/** Bytes reserved for the status in each message, for platforms that show it only as part of the text. */
function roomFor(status: string | undefined): number {
  return status === undefined ? 0 : Buffer.byteLength(`\n\n${status}`);
}
