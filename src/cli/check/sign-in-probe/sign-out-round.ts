import type { TokenSet } from '../../../bot/identity/oauth/token-response.ts';
import type { CheckResult } from '../../../bot/platforms/platform.ts';
import { shapeOf } from './answer-shape.ts';
import { leaveWith, notTried, type ProbeTools, type Round } from './round.ts';
import { tokensIn } from './tokens-in.ts';

/** The last sign-in: whether its tokens outlive the browser session at the service. */
export function signOutRound(tools: ProbeTools): Round {
  const name = 'After signing out';
  const untried = notTried(name);
  let tokens: TokenSet | undefined;
  return {
    title: { en: 'Tokens after signing out', zh: '退出登录之后的令牌' },
    startRedirect: leaveWith(tools),
    isNeeded: () => true,
    async run({ code }) {
      const answer = await tools.calls.exchange({ code });
      const given = tokensIn(answer, tools.secrets);
      if ('refusal' in given) return untried(`no tokens for this test (${shapeOf(answer)})`);
      tokens = given;
      return [];
    },
    onNoCode: untried,
    afterSignOut: {
      isWanted: () => tokens !== undefined,
      async run() {
        if (!tokens) return [];
        const accessToken = (await tools.calls.profile(tokens.accessToken)).status === 200;
        const refreshToken = await isRefreshed(tools, tokens.refreshToken);
        tools.facts.afterSignOut = { accessToken, refreshToken };
        return [judge(name, { accessToken, refreshToken })];
      },
    },
  };
}

/** Returns undefined without a refresh token. */
async function isRefreshed({ calls, secrets }: ProbeTools, refreshToken: string | undefined) {
  if (refreshToken === undefined) return undefined;
  return !('refusal' in tokensIn(await calls.refresh(refreshToken), secrets));
}

function judge(name: string, lives: { accessToken: boolean; refreshToken: boolean | undefined }): CheckResult {
  const says = (isAlive: boolean) => (isAlive ? 'still works' : 'is invalid');
  const refresh = lives.refreshToken === undefined ? '' : `; the refresh token ${says(lives.refreshToken)}`;
  const detail = `the access token ${says(lives.accessToken)}${refresh}`;
  if (lives.refreshToken !== false) return { name, verdict: 'ok', detail };
  const nextStep = 'People who sign out at the service must sign in to Parley again after its next check';
  return { name, verdict: 'warning', detail, nextStep };
}
