import { asError } from '../../shared/coded-error.ts';
import type { Log } from '../../shared/log.ts';
import { createAudit } from './audit.ts';
import { createChatApps } from './browser/chat-apps.ts';
import { createSignInProvider } from './providers/create-provider.ts';
import { createCommit } from './links/commit-link.ts';
import { createLinks } from './links/links.ts';
import { RecentChanges } from './links/recent-changes.ts';
import { createReleases } from './links/releases.ts';
import { createWaitsFor } from './links/waiting.ts';
import type { IdentityOptions } from './options.ts';
import { createStore } from './store.ts';
import { createPendingSignIns } from './invitations/pending-sign-ins.ts';
import { createInvitations } from './invitations/invitations.ts';
import { createAccessTokens } from './tokens/access-token.ts';
import { createVault } from './tokens/vault.ts';
import { createTypedCodes } from './typed-code/typed-codes.ts';

/** The shared components of one identity. Each consumer receives only those that it needs. */
export function createParts({ redis, keyRing, platforms, signIn, chat, ...given }: IdentityOptions) {
  const { changes = new RecentChanges(), nowMs, log, report } = given;
  const { allowedIdentityCodes, keepTokens, uncheckedLinkDays } = signIn.rules;
  const store = createStore(redis);
  const audit = createAudit(log, keyRing, report);
  const vault = createVault(keyRing);
  const tell = background(log, 'a notice was not delivered', chat.notify);
  const release = background(log, 'held questions could not be released immediately', chat.onLinked);
  const dialect = createSignInProvider(signIn.service, { clientId: signIn.service.clientId, allowedIdentityCodes });
  const records = { store, keyRing, vault, audit, changes, nowMs };
  const links = createLinks(records);
  const waitsFor = createWaitsFor(store, { lookForHeld: chat.findHeldMessages, log });
  return {
    ...{ store, audit, vault, changes, tell, release, dialect, links, waitsFor },
    ...createCommit({ ...records, waitsFor }, links, { keepTokens, uncheckedLinkDays }),
    accessTokens: createAccessTokens({ store, links, vault, dialect, keepTokens, audit, tell, nowMs, log }),
    apps: createChatApps(platforms),
    codes: createTypedCodes(store, keyRing, nowMs),
    pendingSignIns: createPendingSignIns(store, vault, nowMs),
    releases: createReleases(store, nowMs),
    invitations: createInvitations(store, keyRing, nowMs),
  };
}

export type IdentityParts = ReturnType<typeof createParts>;

/** Calls a function of the composition root without awaiting it, because a page must not wait for a messaging platform. */
function background<Args extends unknown[]>(log: Log, failure: string, call: (...args: Args) => Promise<void> | void) {
  return (...args: Args): void => {
    void (async () => call(...args))().catch((thrown: unknown) => log.warn({ error: asError(thrown) }, failure));
  };
}
