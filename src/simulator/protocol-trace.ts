import type { Log } from '../shared/log.ts';

/** The bot broke one of the platform's rules. */
export interface Violation {
  /** The person's message that was being answered, where there is one. */
  questionId?: string;
  reason: string;
  atMs: number;
}

/** What was seen of one answer. */
export interface AnswerTrace {
  polls: number;
  /** Each different content that a callback's answer showed, in order: the steps in which the answer grew. */
  snapshots: string[];
}

/** A person's message of which nothing shows that the bot has it: it fell into a gap between the bot's connections. */
export interface MissedMessage {
  questionId: string;
  /** Whether it was brought over a connection that ended before the bot had answered; else there was none. */
  wasBrought: boolean;
  atMs: number;
}

const MAX_ANSWERS = 500;
const MAX_MISSED = 1_000;
const MAX_VIOLATIONS = 100;

/** What happened between the platform and the bot, for tests and for a developer's eyes. Kept in memory, bounded. */
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

  polled(questionId: string): void {
    this.#note(questionId).polls += 1;
  }

  shown(questionId: string, content: string): void {
    const { snapshots } = this.#note(questionId);
    if (snapshots.at(-1) !== content) snapshots.push(content);
  }

  violated(violation: Violation): void {
    this.#violations.push(violation);
    if (this.#violations.length > MAX_VIOLATIONS) this.#violations.shift();
    this.#log.warn({ reason: violation.reason }, 'the bot broke a rule of the platform');
  }

  missed(message: MissedMessage): void {
    this.#missed.set(message.questionId, message);
    const [oldest] = this.#missed.keys();
    if (oldest !== undefined && this.#missed.size > MAX_MISSED) this.#missed.delete(oldest);
  }

  /** The bot has it after all. */
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
