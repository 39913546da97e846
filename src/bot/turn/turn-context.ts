import type { HistoryTurn } from './conversation/history.ts';
import type { Preferences } from './conversation/preferences.ts';
import type { Account } from '../domain/account.ts';
import type { InboundMessage } from '../domain/message.ts';
import type { TurnClaim, TurnControls } from '../domain/turn.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Models } from '../policy/policy.ts';
import type { Scene } from '../policy/scenes-file.ts';
import type { LiveReply } from '../reply/live-reply.ts';
import type { Question } from './prompt/question.ts';

/** All that one turn works with. It never changes: a step that learns something returns it. */
export interface TurnContext {
  readonly turn: TurnClaim;
  readonly controls: TurnControls;
  readonly question: Readonly<Question>;
  /** The newest message; the answer belongs to it. */
  readonly newest: InboundMessage;
  readonly platform: Platform;
  readonly live: LiveReply;
  /** What the sender chose in this chat. */
  readonly preferences: Readonly<Preferences>;
  /** Who asks, once the gate has looked them up; absent while nobody is linked or sign-in is off. */
  readonly account?: Account;
  /** The scene that holds for them here, once the gate has found it; absent where none does. */
  readonly scene?: Scene;
  /** The turn whose place this one takes (/retry). */
  readonly replaced?: HistoryTurn;
}

/** A turn whose sender the gate let pass. */
export interface AdmittedContext extends TurnContext {
  /** The models that may answer, the one that does first. */
  readonly models: Models;
  /** The policy's rule that says so. */
  readonly rule: string;
}
