import { asError } from '../../../shared/coded-error.ts';
import type { Log } from '../../../shared/log.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { NotifyPerson } from '../account.ts';
import type { Audit, IdentityReason } from '../audit.ts';
import type { ErrorPage } from '../pages/error-texts.ts';
import { PageError } from '../pages/page-error.ts';
import type { Invitations } from '../invitations/invitations.ts';
import type { SignInCallback } from './take-transaction.ts';

/** Verifies that the returning user is the invited one, and handles strangers. */
export interface PersonProof {
  /**
   * The invitation's chat user id, converted if the platform encrypts it.
   * @throws PageError chat-account-unverifiable if it cannot be converted; chat-app-failed if the platform did not answer
   */
  plainIdOf(returned: SignInCallback, platform: Platform): Promise<string>;
  /** Another user opened the link: ends the invitation, creates no link and notifies the invited user. */
  refuseOther(
    returned: SignInCallback,
    reason: IdentityReason,
    page?: 'other-chat-account' | 'other-organisation',
  ): Promise<PageError>;
  /** @throws PageError chat-app-failed if the platform did not answer */
  orTryAgain<T>(returned: SignInCallback, answer: Promise<T>): Promise<T>;
}

export interface PersonProofParts {
  invitations: Pick<Invitations, 'close'>;
  audit: Audit;
  tell: NotifyPerson;
  log: Log;
}

export function createPersonProof(parts: PersonProofParts): PersonProof {
  const orTryAgain: PersonProof['orTryAgain'] = async ({ again }, answer) => {
    try {
      return await answer;
    } catch (thrown) {
      // Thrown before the platform was asked for the user.
      if (thrown instanceof PageError) throw thrown;
      parts.log.warn({ error: asError(thrown) }, 'the platform did not identify a browser');
      throw new PageError('chat-app-failed', { again });
    }
  };
  return {
    orTryAgain,
    async plainIdOf(returned, platform) {
      const { person } = returned.invitation;
      const plainUserId = await orTryAgain(returned, platform.plainUserId(person.chatUserId));
      if (plainUserId !== undefined) return plainUserId;
      throw await refuse(parts, returned, { page: 'chat-account-unverifiable', reason: 'id-unverifiable' });
    },
    refuseOther: (returned, reason, page = 'other-chat-account') => refuse(parts, returned, { page, reason }),
  };
}

interface Refusal {
  page: ErrorPage;
  reason: IdentityReason;
}

async function refuse(
  { invitations, audit, tell }: PersonProofParts,
  { invitation, cookieHash }: SignInCallback,
  { page, reason }: Refusal,
): Promise<PageError> {
  const isAbuse = page !== 'chat-account-unverifiable';
  const isFirst = await invitations.close(invitation, isAbuse ? 'abused' : 'refused', cookieHash);
  if (isFirst) {
    audit('link-refused', invitation.person, reason);
    if (isAbuse) tell(invitation.person, { kind: 'someone-else-signed-in' });
  }
  return new PageError(page);
}
