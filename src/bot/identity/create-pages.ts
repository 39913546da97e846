import type Router from '@koa/router';
import { createAuthorizations } from './browser/authorization-request.ts';
import { createConfirmSteps } from './browser/confirm-sign-in.ts';
import { createReadEmptyReturn } from './browser/empty-return.ts';
import { createFindSignIn } from './browser/find-sign-in.ts';
import { createForms } from './browser/forms.ts';
import { createPersonProof } from './browser/person-proof.ts';
import { createPlatformReturn } from './browser/return-from-platform.ts';
import { createServiceReturn } from './browser/return-from-service.ts';
import { createRoutes, type SignInSteps } from './browser/routes.ts';
import { createStartSteps } from './browser/start-sign-in.ts';
import { createTakeTransaction } from './browser/take-transaction.ts';
import type { IdentityParts } from './create-parts.ts';
import { createFailureLimit } from './failure-limit.ts';
import { createMakeLink } from './links/make-link.ts';
import type { IdentityOptions } from './options.ts';
import { createTransactions } from './invitations/transactions.ts';
import { createCodeSteps } from './typed-code/show-code.ts';

/** The sign-in's pages, wired. */
export function createPages(options: IdentityOptions, parts: IdentityParts): Router {
  const platforms = [...options.platforms.values()];
  const platformOrigins = platforms.flatMap((platform) => platform.webSignIn?.origins ?? []);
  const { publicUrl, trustedProxyHops = 0, helpUrl } = options.pages;
  const publicOrigin = new URL(publicUrl).origin;
  return createRoutes({
    steps: createSteps(options, parts, publicOrigin),
    publicOrigin,
    apps: parts.apps,
    failures: createFailureLimit(parts.store, options.keyRing, options.nowMs),
    platformNames: platforms.map((platform) => platform.name),
    formOrigins: () => [...parts.dialect.origins(), ...platformOrigins],
    trustedProxyHops,
    helpUrl,
    log: options.log,
  });
}

function createSteps(options: IdentityOptions, parts: IdentityParts, publicOrigin: string): SignInSteps {
  const { keyRing, nowMs, log, pages, signIn } = options;
  const { tickets, pendingSignIns, dialect, apps, audit, tell, release, waitsFor } = parts;
  const { rules, service } = signIn;
  const { providerName } = pages;
  const forms = createForms(keyRing, publicOrigin);
  const transactions = createTransactions(parts.store, nowMs);
  const authorizations = createAuthorizations({ publicOrigin, dialect, tickets, keyRing, nowMs, log });
  const findSignIn = createFindSignIn({ pendingSignIns, tickets, keyRing });
  const personProof = createPersonProof({ tickets, audit, tell, log });
  const returning = { state: service.state, returns: dialect.returns };
  const takeTransaction = createTakeTransaction({ service: returning, transactions, tickets, forms, apps, audit });
  const readEmptyReturn = createReadEmptyReturn({ dialect, transactions, apps, providerName });
  const codeSteps = createCodeSteps({ codes: parts.codes, findSignIn, forms, providerName, waitsFor, nowMs });
  const makeLink = createMakeLink({ commit: parts.commit, audit, tell, release, nowMs });
  const toSomebody = { apps, personProof, authorizations, takeTransaction };
  return {
    ...createStartSteps({ tickets, apps, rules, forms, authorizations, audit, providerName, waitsFor }),
    returnFromPlatform: createPlatformReturn(toSomebody),
    returnFromService: createServiceReturn({
      ...toSomebody,
      rules,
      readEmptyReturn,
      pendingSignIns,
      audit,
      nowMs,
      log,
    }),
    ...createConfirmSteps({
      ...{ findSignIn, forms, rules, codeSteps, makeLink },
      ...{ tickets, audit, apps, providerName, waitsFor },
    }),
    showNewCode: codeSteps.showNewCode,
  };
}
