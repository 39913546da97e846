import type { NowMs } from '../../shared/clock.ts';
import type { Log } from '../../shared/log.ts';
import { createAdminRoutes, type AdminRoutes } from '../admin/admin-routes.ts';
import { createRecordAct } from '../admin/record-act.ts';
import { createSessions } from '../admin/sessions.ts';
import type { Config, Secrets } from '../config/config.ts';
import { createFailureLimit } from '../identity/failure-limit.ts';
import type { Identity } from '../identity/identity.ts';
import { createStore } from '../identity/store.ts';
import { BudgetStore } from '../turn/budgets/budget-store.ts';
import type { Base } from './base.ts';
import { otherModels } from './other-models.ts';
import { readPolicyFile } from './read-policy-file.ts';

interface AdminPageOptions extends Pick<Base, 'redis' | 'keyRing' | 'wakeQueue' | 'listedModels'> {
  config: Config;
  secrets: Secrets;
  identity: Identity;
  nowMs: NowMs;
  log: Log;
}

/** Builds the admin page of a receiver. */
export function createAdminPage(options: AdminPageOptions): AdminRoutes {
  const { config, secrets, listedModels, identity, redis, keyRing, wakeQueue, nowMs, log } = options;
  const { adminIds, timeZone, http, signIn } = config;
  const recordAct = createRecordAct({ log, redis, keyRing, nowMs });
  const budgets = new BudgetStore({ redis, keyRing, nowMs, timeZone });
  const readSharedBudgets = () => readPolicyFile(config);
  return createAdminRoutes({
    handling: {
      ...{ redis, keyRing, identity, wakeQueue, budgets, readSharedBudgets, timeZone, nowMs, recordAct },
      otherModels: async (name) =>
        listedModels.config.chat.models.includes(name) ? undefined : otherModels(config, secrets, name),
      showsUnansweredText: config.conversation.showsUnansweredText,
    },
    signIn: identity.accountSignIn(),
    sessions: createSessions({ redis, keyRing, adminIds, nowMs }),
    failures: createFailureLimit({
      store: createStore(redis),
      keyRing,
      nowMs,
      maxPerMinute: signIn.maxFailuresPerMinute,
    }),
    service: signIn.serviceName,
    publicOrigin: new URL(http.publicUrl).origin,
    ownOrigin: http.adminPort === undefined ? undefined : originAt(http.publicUrl, http.adminPort),
    trustedProxyHops: http.trustedProxyHops,
    ...{ adminIds, keyRing, log },
  });
}

/** The same host with another port, so that the browser sends the same cookies. */
function originAt(publicUrl: string, port: number): string {
  const url = new URL(publicUrl);
  url.port = String(port);
  return url.origin;
}
