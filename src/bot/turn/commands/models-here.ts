import type { Models } from '../../policy/policy.ts';
import { SIGN_IN_TEXTS } from '../../i18n/sign-in-texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import { addressSender } from '../sign-in-words.ts';
import type { Outcome } from '../outcome.ts';
import { translate } from '../translate.ts';
import { chosenFirst } from './chosen-first.ts';

/**
 * The models that this person may use here, the current one first, and the default without a choice; or a refusal. Listing
 * models never sends a sign-in invitation.
 */
export async function findAllowedModels(
  gate: SignInGate,
  context: TurnContext,
): Promise<{ models: Models; usual: string } | { outcome: Outcome }> {
  const judged = await gate.judge({ ...context, preferences: {} });
  if (judged === 'unlinked') {
    const { newest } = context;
    if (newest.chat.kind === 'private')
      return { outcome: { kind: 'refused', text: translate(context, TURN_TEXTS.whoUnlinked) } };
    const words = await addressSender(context, translate(context, SIGN_IN_TEXTS.groupSignIn));
    return { outcome: { kind: 'refused', ...words } };
  }
  if ('outcome' in judged) return judged;
  return { models: chosenFirst(judged.models, context.preferences.model), usual: judged.models[0] };
}
