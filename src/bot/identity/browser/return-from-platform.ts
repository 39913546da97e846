import { PlatformError } from '../../platforms/platform-error.ts';
import type { PlatformName } from '../../domain/platform-name.ts';
import { PageError } from '../pages/page-error.ts';
import type { Authorizations } from './authorization-request.ts';
import type { ChatApps } from './chat-apps.ts';
import type { PersonProof } from './person-proof.ts';
import type { StepOf } from './step.ts';
import type { TakeTransaction } from './take-transaction.ts';

export interface PlatformReturnParts {
  takeTransaction: TakeTransaction;
  apps: Pick<ChatApps, 'platformOf'>;
  personProof: PersonProof;
  authorizations: Authorizations;
}

/**
 * GET of the platform's callback, proof same-browser (SECURITY.md chat-proof-first): the chat account of this browser must be the one
 * that asked. Only then does the browser go on to the sign-in service.
 * @returns a step that throws PageError link-used-up, sign-in-broken-off, other-chat-account, other-organisation,
 * chat-app-failed, service-failed
 */
export function createPlatformReturn(parts: PlatformReturnParts): StepOf<PlatformName> {
  const { takeTransaction, apps, personProof, authorizations } = parts;
  return async (request, name) => {
    const returned = await takeTransaction(request, `platform/${name}`);
    if ('declined' in returned) return returned.declined;
    const { ticket, cookieHash } = returned;
    const platform = apps.platformOf(ticket.person);
    if (!platform?.webSignIn || platform.name !== name) throw new PageError('sign-in-broken-off');
    const asked = authorizations.identify(returned, platform.webSignIn).catch(outsideOrFailed);
    const present = await personProof.orTryAgain(returned, asked);
    if (present === 'outside')
      throw await personProof.refuseOther(returned, 'other-chat-account', 'other-organisation');
    const plainUserId = await personProof.plainIdOf(returned, platform);
    if (present.userId !== plainUserId || present.tenant !== ticket.person.tenant) {
      throw await personProof.refuseOther(returned, 'other-chat-account');
    }
    const leg = { ticketHash: ticket.hash, cookieHash, isChatProven: true, restarts: 0, again: returned.again };
    const { location, transaction } = await authorizations.toService(leg);
    await authorizations.begin({ ticketHash: ticket.hash, shownCookieHash: cookieHash, cookieHash, transaction });
    return { kind: 'redirect', location, isCallback: true };
  };
}

/** Somebody from outside the organisation is somebody else, not a failure. */
function outsideOrFailed(thrown: unknown): 'outside' {
  if (thrown instanceof PlatformError && thrown.code === 'not_a_member') return 'outside';
  throw thrown;
}
