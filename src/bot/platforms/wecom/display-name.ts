import type { PlainUserIds } from './plain-user-id.ts';
import type { WecomApi } from './platform-api.ts';

/**
 * How WeCom shows a member. Undefined where the self-built app may not see the name: then WeCom leaves it out, or gives the id
 * in its place.
 * @throws PlatformError when the platform does not answer
 */
export async function displayNameOf(api: WecomApi, userIds: PlainUserIds, userId: string): Promise<string | undefined> {
  const plainUserId = await userIds.find(userId);
  if (plainUserId === undefined) return undefined;
  const { errcode, name } = await api.call({
    method: 'GET',
    path: '/cgi-bin/user/get',
    query: { userid: plainUserId },
  });
  const isName = errcode === 0 && typeof name === 'string' && name.trim() !== '' && name !== plainUserId;
  return isName ? name : undefined;
}
