import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { MessengerDriver } from '../../simulator/driver.ts';
import type { MessageView } from '../../simulator/api.ts';
import type { Answer } from './judge-answer.ts';
import type { Asker } from './people.ts';
import type { Question } from './questions-file.ts';
import { walkThroughSignIn } from './sign-in-walk.ts';

export interface QuestionRunnerOptions {
  driver: MessengerDriver;
  /** The group for questions that do not name one. */
  someGroup: string;
  perMinute: number;
  /** Whether users without a linked account get no answer. */
  mustSignIn: boolean;
  /** Ends the waits for limits when the evaluation is interrupted. */
  signal: AbortSignal;
}

/** Below the bot's limit of messages per person and minute. */
const MAX_MESSAGES_PER_MINUTE = 18;
/** The maximum duration of an answer and some time for its remainder. */
const ANSWER_TIMEOUT_MS = 6 * MINUTE_MS + 30 * SECOND_MS;
const INVITATION_TIMEOUT_MS = 30 * SECOND_MS;
const POLL_INTERVAL_MS = 100;

/** Asks questions one after another in the messaging app, each in a new conversation. */
export class QuestionRunner {
  readonly #options: QuestionRunnerOptions;
  readonly #linked = new Set<string>();
  /** Places that already have a conversation, where a new one must be started first. */
  readonly #begun = new Set<string>();
  readonly #saidMs = new Map<string, number[]>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;

  constructor(options: QuestionRunnerOptions) {
    this.#options = options;
  }

  /** Time from the last message to its answer, without the waits for limits before it. */
  get tookMs(): number {
    return this.#tookMs;
  }

  /** @throws Error if no answer arrives, the sign-in fails, or the evaluation is interrupted */
  async ask({ ask, group, source }: Question, { userId, isLinked }: Asker): Promise<Answer> {
    if (isLinked && !this.#linked.has(userId)) {
      await this.#signIn(userId);
      this.#linked.add(userId);
    }
    this.#tookMs = 0;
    const place = `${userId} ${group ?? ''}`;
    if (this.#begun.has(place)) await this.#say(userId, '/new', group);
    this.#begun.add(place);
    await this.#keepPace();
    const answer = await this.#say(userId, ask, group, isLinked);
    const tookMs = this.#tookMs;
    const beside = [answer.note, answer.thinking].filter((words) => words !== undefined).join('\n');
    const isNamed = source.every((title) => beside.includes(title));
    const sources = isNamed ? undefined : (await this.#say(userId, '/sources', group)).text;
    this.#tookMs = tookMs;
    return { text: answer.text, beside, sources };
  }

  async #signIn(userId: string): Promise<void> {
    const { driver } = this.#options;
    await this.#wait(userId);
    const { id } = await driver.send(userId, '/signin');
    const { text } = await this.#invitation(userId, id);
    await walkThroughSignIn(driver, userId, text);
  }

  /** Waits for the sign-in invitation. It may not be final, because the answer can replace it. */
  async #invitation(userId: string, messageId: string): Promise<MessageView> {
    const { driver } = this.#options;
    const untilMs = monotonicMs() + INVITATION_TIMEOUT_MS;
    for (;;) {
      const shown = await driver.answer(messageId);
      if (shown && (shown.text !== '' || shown.state === 'final')) return shown;
      if (monotonicMs() > untilMs) throw new Error(`No sign-in link arrived for ${userId}`);
      await pause(POLL_INTERVAL_MS);
    }
  }

  async #say(userId: string, text: string, group: string | undefined, isLinked = true): Promise<MessageView> {
    const { driver, someGroup } = this.#options;
    await this.#wait(userId);
    const conversation = group === undefined ? undefined : { group: group === 'some' ? someGroup : group };
    const sentMs = monotonicMs();
    try {
      const { id } = await driver.send(userId, { text, conversation, mention: conversation !== undefined });
      if (!isLinked && this.#options.mustSignIn) return await this.#invitation(userId, id);
      return await driver.waitForAnswer(id, { timeoutMs: ANSWER_TIMEOUT_MS });
    } finally {
      this.#tookMs = Math.round(monotonicMs() - sentMs);
    }
  }

  async #keepPace(): Promise<void> {
    const dueMs = this.#lastMs + MINUTE_MS / this.#options.perMinute - monotonicMs();
    if (dueMs > 0) await pause(dueMs, undefined, { signal: this.#options.signal });
    this.#lastMs = monotonicMs();
  }

  async #wait(userId: string): Promise<void> {
    const said = (this.#saidMs.get(userId) ?? []).filter((atMs) => monotonicMs() - atMs < MINUTE_MS);
    const oldest = said[said.length - MAX_MESSAGES_PER_MINUTE];
    const dueMs = oldest === undefined ? 0 : oldest + MINUTE_MS + SECOND_MS - monotonicMs();
    if (dueMs > 0) await pause(dueMs, undefined, { signal: this.#options.signal });
    this.#saidMs.set(userId, [...said, monotonicMs()]);
  }
}
