import { DAY_MS } from '../../shared/clock.ts';
import { holdAccount, releaseAccount } from '../../bot/app/person-data/holds-of-accounts.ts';
import type { RunAdmin } from './admin-context.ts';
import { peopleNamedBy } from './named-people.ts';

/** `admin hold ACCOUNT [--release]`: begins or ends a legal hold. */
export const hold: RunAdmin = async (context, { subject: account, options: given }) => {
  const { config, redis, keyRing, nowMs } = context;
  const options = { redis, keyRing };
  if (given['release'] === true) {
    const lifeMs = config.conversation.historyTtlDays * DAY_MS;
    const wasHeld = await releaseAccount(options, { account, lifeMs });
    return wasHeld
      ? { act: 'hold-released', data: { outcome: 'released' }, text: 'The legal hold has ended\n' }
      : {
          act: 'hold-released',
          outcome: 'not-found',
          data: { outcome: 'not-found' },
          text: 'There is no legal hold on this account\n',
        };
  }
  const { people } = peopleNamedBy(context, account);
  const held = await holdAccount(options, { account, people, nowMs: nowMs() });
  return {
    data: { outcome: 'held', ...held },
    text: `On legal hold. Chat accounts: ${held.people}, stored items: ${held.keys}\n`,
  };
};
