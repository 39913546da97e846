import { createLog } from '../../shared/log.ts';
import { createPlatforms } from '../../bot/app/base.ts';
import type { DataPerson } from '../../bot/app/person-data/subject.ts';
import type { AdminContext } from './admin-context.ts';

/**
 * Chat users whom the argument itself names: `wecom:zhangsan`, or with SIGN_IN=off the user id on any platform. A number of the
 * institution names no chat user; their links do.
 */
export function peopleNamedBy(
  { config, secrets, redis, keyRing, nowMs }: AdminContext,
  subject: string,
): { account: string; people: DataPerson[] } {
  const log = createLog({ level: 'silent', format: 'json' });
  const platforms = createPlatforms({ config, secrets, nowMs, log, modelNames: () => [] }, redis, keyRing);
  const [prefix = '', ...rest] = subject.split(':');
  const named = [...platforms.values()].filter(({ name }) => name === prefix && rest.length > 0);
  const userId = named.length > 0 ? rest.join(':') : subject;
  const served = named.length > 0 ? named : config.signIn.mode === 'off' ? [...platforms.values()] : [];
  const people = served.map(({ name: platform, tenant, app }) => ({ platform, tenant, app, userId }));
  return { account: subject, people };
}
