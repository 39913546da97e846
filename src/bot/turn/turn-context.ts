import type { HistoryTurn } from './conversation/history.ts';
import type { Preferences } from './conversation/preferences.ts';
import type { Account } from '../domain/account.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { TurnClaim, TurnControls } from '../domain/turn.ts';
import type { Platform } from '../platforms/platform.ts';
import type { AppliedBudget } from '../policy/budget.ts';
import type { Models } from '../policy/policy.ts';
import type { Scene } from '../policy/scenes-file.ts';
import type { LiveReply } from '../reply/live-reply.ts';
import type { Question } from './prompt/question.ts';

/** Immutable context of one turn. A step that learns something returns a new context. */
export interface TurnContext {
  readonly turn: TurnClaim;
  readonly controls: TurnControls;
  readonly question: Readonly<Question>;
  /** The newest message; the answer belongs to it. */
  readonly newest: InboundMessage;
  readonly platform: Platform;
  readonly live: LiveReply;
  /** The sender's preferences in this chat. */
  readonly preferences: Readonly<Preferences>;
  /** The account found by the sign-in gate; absent if the person is not linked or sign-in is off. */
  readonly account?: Account;
  /** The scene found by the sign-in gate; absent if none applies. */
  readonly scene?: Scene;
  /** The turn that this one replaces (/retry). */
  readonly replaced?: HistoryTurn;
}

/** A turn that the sign-in gate admitted. */
export interface AdmittedContext extends TurnContext {
  /** The allowed models, the answering one first. */
  readonly models: Models;
  /** The policy rule that allows them. */
  readonly rule: string;
  /** Budgets that the question is charged to. */
  readonly budgets: readonly AppliedBudget[];
}
