import type { Log } from '../shared/log.ts';

/** A platform rule that the bot violated. */
export interface Violation {
  /** The person's message that was being answered, if any. */
  questionId?: string;
  reason: string;
}

/** Trace of one answer. */
export interface AnswerTrace {
  polls: number;
  /** Each distinct content that a callback's answer had, in order: the steps in which the answer grew. */
  snapshots: string[];
}

/** A person's message without any sign that the bot received it: it was lost between the bot's connections. */
export interface MissedMessage {
  questionId: string;
  /** Whether it was sent over a connection that ended before the bot answered; otherwise there was no connection. */
  wasBrought: boolean;
}

const MAX_ANSWERS = 500;
const MAX_MISSED = 1_000;
const MAX_VIOLATIONS = 100;

/** Trace of the traffic between the platform and the bot, for tests and developers. Kept in memory, with a limit. */
export class ProtocolTrace {
  readonly #answers = new Map<string, AnswerTrace>();
  readonly #violations: Violation[] = [];
  readonly #missed = new Map<string, MissedMessage>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  get missedMessages(): readonly MissedMessage[] {
    return [...this.#missed.values()];
  }

  answer(questionId: string): AnswerTrace {
    return this.#answers.get(questionId) ?? { polls: 0, snapshots: [] };
  }

  recordPoll(questionId: string): void {
    this.#note(questionId).polls += 1;
  }

  recordSnapshot(questionId: string, content: string): void {
    const { snapshots } = this.#note(questionId);
    if (snapshots.at(-1) !== content) snapshots.push(content);
  }

  /** @param questionId the person's message that was being answered, if any */
  recordViolation(reason: string, questionId?: string): void {
    this.#violations.push({ reason, questionId });
    if (this.#violations.length > MAX_VIOLATIONS) this.#violations.shift();
    this.#log.warn({ reason }, 'the bot violated a rule of the platform');
  }

  recordMissed(message: MissedMessage): void {
    this.#missed.set(message.questionId, message);
    const [oldest] = this.#missed.keys();
    if (oldest !== undefined && this.#missed.size > MAX_MISSED) this.#missed.delete(oldest);
  }

  /** Records that the bot did receive it. */
  notMissed(questionId: string): void {
    this.#missed.delete(questionId);
  }

  #note(questionId: string): AnswerTrace {
    const known = this.#answers.get(questionId);
    if (known) return known;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined && this.#answers.size >= MAX_ANSWERS) this.#answers.delete(oldest);
    const fresh = { polls: 0, snapshots: [] };
    this.#answers.set(questionId, fresh);
    return fresh;
  }
}
