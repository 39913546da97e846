import { asError } from '../../shared/coded-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Log } from '../../shared/log.ts';
import { languageOfText, type Language } from '../../shared/text/texts.ts';
import { isIdentityError } from '../identity/identity-error.ts';
import type { Identity, TypedOutcome } from '../identity/identity.ts';
import { linkedText } from './linked-text.ts';
import { textOfMessage } from './prompt/question.ts';
import type { TurnContext } from './turn-context.ts';
import { askerOf } from './asker.ts';
import { describePlatform } from '../platforms/registry.ts';
import { localizeForChat, type Voice } from '../i18n/say-typed.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import { lastLanguage } from './prompt/turn-history.ts';
import type { Outcome } from './outcome.ts';

export interface TypedCodesOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  keyRing: KeyRing;
  log: Log;
}

/** Ends a turn whose message is a sign-in code; undefined lets the turn continue. */
export type TakeTypedCode = (context: TurnContext) => Promise<Outcome | undefined>;

/**
 * Removes sign-in codes from the conversation before any other step reads the message (SECURITY.md typed-code): even on
 * errors, its text reaches no model, no history and no held messages. A message with a code is never merged with others, so
 * it is the only message of its turn.
 */
export function createTakeTypedCode({ identity, keyRing, log }: TypedCodesOptions): TakeTypedCode {
  return async (context) => {
    const taken = await take(identity, context).catch((thrown: unknown) => {
      // Without the store, the turn is released and runs again.
      if (isIdentityError(thrown, 'store_away')) throw thrown;
      log.error({ error: asError(thrown), trace: context.turn.turnId }, 'a typed code could not be verified');
      return 'failed' as const;
    });
    if (!taken) return undefined;
    const language =
      context.preferences.language ?? (taken === 'failed' ? undefined : taken.language) ?? languageOf(keyRing, context);
    const voice: Voice = { language, bareWords: describePlatform(context.platform.name).bareWords };
    const text = taken === 'failed' ? localizeForChat(TURN_TEXTS.codeFailed, voice) : formatTypedOutcome(taken, voice);
    return { kind: 'sign-in', text };
  };
}

async function take(identity: Identity | undefined, context: TurnContext): Promise<TypedOutcome | undefined> {
  const { newest, turn } = context;
  const { platform, tenant, app, chatUserId } = askerOf(context);
  return identity?.redeemTypedCode({
    owner: { platform, tenant, app },
    chatUserId,
    chatKind: newest.chat.kind,
    text: textOfMessage(newest),
    messageId: turn.turnId,
  });
}

function formatTypedOutcome(taken: TypedOutcome, voice: Voice): string {
  switch (taken.kind) {
    case 'linked':
      return linkedText(voice, taken);
    case 'wrong':
      return taken.triesLeft > 0
        ? localizeForChat(TURN_TEXTS.codeWrong, voice, { count: taken.triesLeft })
        : localizeForChat(TURN_TEXTS.codeWrongLast, voice);
    case 'code-expired':
      return localizeForChat(TURN_TEXTS.codeExpired, voice);
    case 'not-awaited':
      return localizeForChat(TURN_TEXTS.codeNotAwaited, voice);
    case 'seen-in-group':
      return localizeForChat(TURN_TEXTS.codeInGroup, voice);
    case 'already-linked':
      return localizeForChat(TURN_TEXTS.chatLinkedElsewhere, voice);
    case 'held-elsewhere':
      return localizeForChat(TURN_TEXTS.accountLinkedElsewhere, voice);
  }
}

/** A code does not reveal a language; the last question of the conversation and the sender's name may. */
function languageOf(keyRing: KeyRing, { turn, newest, question }: TurnContext): Language {
  const hints = [
    question.language,
    lastLanguage(keyRing, turn, newest),
    languageOfText(newest.sender.displayName ?? ''),
  ];
  return hints.includes('zh') ? 'zh' : 'en';
}
