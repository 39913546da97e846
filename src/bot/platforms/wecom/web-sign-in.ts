import { PlatformError } from '../platform-error.ts';
import type { WebSignIn } from '../platform.ts';
import { assertAnswered, type WecomAgent, type WecomApi } from './platform-api.ts';

const PATH = '/cgi-bin/auth/getuserinfo';
/** WeCom's error code for an invalid sign-in code. */
export const CODE_INVALID = 40_029;

/** WeCom's silent web sign-in. It works only in WeCom's own browser and shows no consent page. */
export function createWebSignIn(agent: WecomAgent, api: WecomApi, openUrl: string): WebSignIn {
  return {
    needsAppBrowser: true,
    startAuthorization({ redirectUri, state }) {
      if (!/^[A-Za-z0-9]{1,128}$/.test(state))
        throw new RangeError('WeCom accepts only letters and digits as state, at most 128');
      const query = new URLSearchParams({
        appid: agent.corpId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'snsapi_base',
        state,
        agentid: agent.agentId,
      });
      const location = `${openUrl}/connect/oauth2/authorize?${query.toString()}#wechat_redirect`;
      return Promise.resolve({ location, kept: '' });
    },
    async identify({ code }) {
      const answer = await api.call({ method: 'GET', path: PATH, query: { code } });
      if (answer.errcode === CODE_INVALID) {
        throw new PlatformError('code_refused', 'WeCom’s sign-in code was already used or has expired', answer.errcode);
      }
      const { userid: userId } = assertAnswered(answer, PATH);
      if (typeof userId !== 'string' || userId === '') {
        throw new PlatformError('not_a_member', 'The person is not a member of this company');
      }
      return { userId, tenant: agent.corpId };
    },
  };
}
