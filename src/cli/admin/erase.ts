import { eraseAccount } from '../../bot/app/person-data/erase-account.ts';
import type { RunAdmin } from './admin-context.ts';
import { administrator } from './administrator.ts';
import { peopleNamedBy } from './named-people.ts';

/** `admin erase ACCOUNT`: erases an account and records the proof. Run again, it completes what a kill interrupted. */
export const erase: RunAdmin = async (context, { subject: account }) => {
  const { config, redis, keyRing, nowMs } = context;
  const options = { redis, keyRing, nowMs, groupScope: config.conversation.groupScope };
  const result = await eraseAccount(options, { ...peopleNamedBy(context, account), by: administrator() });
  switch (result.outcome) {
    case 'erased': {
      const lines = Object.entries(result.counts).map(([name, count]) => `  ${name}: ${count}\n`);
      return { data: result, text: `Erased. Proof ${result.id} in the audit record:\n${lines.join('')}` };
    }
    case 'not-found':
      return { outcome: 'not-found', data: result, text: 'Nothing is stored about this account\n' };
    case 'on-hold':
      return {
        outcome: 'refused',
        data: result,
        text: 'Not erased: this account is on legal hold. End the hold first: hold ACCOUNT --release\n',
      };
    case 'waiting':
      return {
        outcome: 'refused',
        data: result,
        text: `Not complete: messages that are still being answered: ${result.count}. Run the command again\n`,
      };
    case 'busy':
      return {
        outcome: 'refused',
        data: result,
        text: 'Not complete: another process is writing the audit record. Run the command again\n',
      };
  }
};
