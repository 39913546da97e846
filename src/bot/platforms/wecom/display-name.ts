import type { PlainUserIds } from './plain-user-id.ts';
import type { WecomApi } from './platform-api.ts';

/**
 * A member's display name in WeCom. Undefined if the self-built app may not read it; WeCom then omits the name or returns
 * the id in its place.
 * @throws PlatformError if the platform does not answer
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
