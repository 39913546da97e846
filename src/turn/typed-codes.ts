import { asError } from '../base/coded-error.ts';
import type { KeyRing } from '../base/key-ring.ts';
import type { Log } from '../base/log.ts';
import { languageOfText, say, type Language } from '../base/texts.ts';
import { isIdentityError } from '../identity/identity-error.ts';
import type { Identity, TypedOutcome } from '../identity/identity.ts';
import { linkedText } from './linked-text.ts';
import { textOfMessage } from './question.ts';
import type { TurnScene } from './run-turn.ts';
import { askerOf } from './asker.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import { lastLanguage } from './turn-history.ts';
import type { Outcome } from './turn-types.ts';

export interface TypedCodesOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  keyRing: KeyRing;
  log: Log;
}

/** Ends a turn whose message is a sign-in code; undefined lets the turn go on. */
export type TakeTypedCode = (scene: TurnScene) => Promise<Outcome | undefined>;

/**
 * Takes sign-in codes out of the conversation before anything else looks at the message (security.md 1.3 step 21): its
 * text reaches no model, no history and no held messages, whatever goes wrong. A message with a code is never merged
 * with others, so it is the turn's only one.
 */
export function createTakeTypedCode({ identity, keyRing, log }: TypedCodesOptions): TakeTypedCode {
  return async (scene) => {
    const taken = await take(identity, scene).catch((thrown: unknown) => {
      // Without the store the turn is given back and runs again.
      if (isIdentityError(thrown, 'store_away')) throw thrown;
      log.error({ error: asError(thrown) }, 'a typed code could not be checked');
      return 'failed' as const;
    });
    if (!taken) return undefined;
    const language =
      scene.preferences.language ?? (taken === 'failed' ? undefined : taken.language) ?? languageOf(keyRing, scene);
    const text = taken === 'failed' ? say(TURN_TEXTS.codeFailed, language) : told(taken, language);
    return { kind: 'sign-in', text };
  };
}

async function take(identity: Identity | undefined, scene: TurnScene): Promise<TypedOutcome | undefined> {
  const { newest, turn } = scene;
  const { platform, tenant, app, chatUserId } = askerOf(scene);
  return identity?.takeTypedCode({
    owner: { platform, tenant, app },
    chatUserId,
    chatKind: newest.chat.kind,
    text: textOfMessage(newest),
    messageId: turn.turnId,
  });
}

function told(taken: TypedOutcome, language: Language): string {
  switch (taken.kind) {
    case 'linked':
      return linkedText(language, taken);
    case 'wrong':
      return taken.triesLeft > 0
        ? say(TURN_TEXTS.codeWrong, language, { count: taken.triesLeft })
        : say(TURN_TEXTS.codeWrongLast, language);
    case 'code-expired':
      return say(TURN_TEXTS.codeExpired, language);
    case 'not-awaited':
      return say(TURN_TEXTS.codeNotAwaited, language);
    case 'seen-in-group':
      return say(TURN_TEXTS.codeInGroup, language);
    case 'already-linked':
      return say(TURN_TEXTS.chatLinkedElsewhere, language);
    case 'held-elsewhere':
      return say(TURN_TEXTS.accountLinkedElsewhere, language);
  }
}

/** A code tells no language; the conversation's last question and the sender's name may. */
function languageOf(keyRing: KeyRing, { turn, newest, question }: TurnScene): Language {
  const hints = [question.language, lastLanguage(keyRing, turn), languageOfText(newest.sender.displayName ?? '')];
  return hints.includes('zh') ? 'zh' : 'en';
}
