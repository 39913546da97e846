import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import type { MessengerDriver } from '../../simulator/driver.ts';
import type { MessageView } from '../../simulator/api.ts';
import type { Answer } from './judge-answer.ts';
import type { Asker } from './people.ts';
import type { Question } from './questions-file.ts';
import { walkThroughSignIn } from './sign-in-walk.ts';

export interface AskingOptions {
  driver: MessengerDriver;
  /** The group for a question that names none of its own. */
  someGroup: string;
  perMinute: number;
  /** Whether nobody is answered who is not linked. */
  mustSignIn: boolean;
}

/** A person says no more than the bot takes of one in a minute. */
const MOST_SAID_A_MINUTE = 18;
/** As long as an answer may grow, and a little for the rest of it. */
const ANSWERED_WITHIN_MS = 6 * MINUTE_MS + 30 * SECOND_MS;
const INVITED_WITHIN_MS = 30 * SECOND_MS;
const LOOK_EVERY_MS = 100;

/** Asks as people do: in the messaging app, one after another, each question in a conversation of its own. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #linked = new Set<string>();
  /** Where something was said already, and a new conversation is to be begun. */
  readonly #begun = new Set<string>();
  readonly #saidMs = new Map<string, number[]>();
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** @throws Error where no answer came, or nobody could be signed in */
  async ask({ ask, group, source }: Question, { userId, isLinked }: Asker): Promise<Answer> {
    if (isLinked && !this.#linked.has(userId)) {
      await this.#signIn(userId);
      this.#linked.add(userId);
    }
    const place = `${userId} ${group ?? ''}`;
    if (this.#begun.has(place)) await this.#say(userId, '/new', group);
    this.#begun.add(place);
    await this.#keepPace();
    const answer = await this.#say(userId, ask, group, isLinked);
    const beside = [answer.note, answer.thinking].filter((words) => words !== undefined).join('\n');
    const isNamed = source.every((title) => beside.includes(title));
    const sources = isNamed ? undefined : (await this.#say(userId, '/sources', group)).text;
    return { text: answer.text, beside, sources };
  }

  async #signIn(userId: string): Promise<void> {
    const { driver } = this.#options;
    await this.#wait(userId);
    const { id } = await driver.say(userId, '/signin');
    const { text } = await this.#invitation(userId, id);
    await walkThroughSignIn(driver, userId, text);
  }

  /** What somebody reads who is to sign in: it stays open, since the answer may come in its place. */
  async #invitation(userId: string, messageId: string): Promise<MessageView> {
    const { driver } = this.#options;
    const untilMs = monotonicMs() + INVITED_WITHIN_MS;
    for (;;) {
      const shown = await driver.answer(messageId);
      if (shown && (shown.text !== '' || shown.state === 'final')) return shown;
      if (monotonicMs() > untilMs) throw new Error(`No sign-in link came for ${userId}`);
      await pause(LOOK_EVERY_MS);
    }
  }

  async #say(userId: string, text: string, group: string | undefined, isLinked = true): Promise<MessageView> {
    const { driver, someGroup } = this.#options;
    await this.#wait(userId);
    const conversation = group === undefined ? undefined : { group: group === 'some' ? someGroup : group };
    const { id } = await driver.say(userId, { text, conversation, mention: conversation !== undefined });
    if (!isLinked && this.#options.mustSignIn) return this.#invitation(userId, id);
    return driver.waitForAnswer(id, { timeoutMs: ANSWERED_WITHIN_MS });
  }

  async #keepPace(): Promise<void> {
    const dueMs = this.#lastMs + MINUTE_MS / this.#options.perMinute - monotonicMs();
    if (dueMs > 0) await pause(dueMs);
    this.#lastMs = monotonicMs();
  }

  async #wait(userId: string): Promise<void> {
    const said = (this.#saidMs.get(userId) ?? []).filter((atMs) => monotonicMs() - atMs < MINUTE_MS);
    const oldest = said[said.length - MOST_SAID_A_MINUTE];
    if (oldest !== undefined) await pause(Math.max(0, oldest + MINUTE_MS + SECOND_MS - monotonicMs()));
    this.#saidMs.set(userId, [...said, monotonicMs()]);
  }
}
