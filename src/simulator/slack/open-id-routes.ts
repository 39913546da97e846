import Router from '@koa/router';
import type { Context } from 'koa';
import type { Bilingual } from '../../shared/text/texts.ts';
import type { PersonView } from '../api.ts';
import { APP_SESSION_HEADER, type AppSessions } from '../browser/app-sessions.ts';
import { showNotice } from '../browser/notice-page.ts';
import type { Directory } from '../directory.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { MessengerContext } from '../protocol.ts';
import { readArguments } from './call-arguments.ts';
import type { OpenId, OpenIdFault } from './open-id.ts';
import { readText } from './read-text.ts';
import { SlackFault } from './slack-fault.ts';

const AUTHORIZE = '/openid/connect/authorize';

/** Endpoints of Slack's web sign-in. The in-app browser's header identifies the person. */
export function openIdRoutes(
  { directory, bot, trace }: Pick<MessengerContext, 'directory' | 'bot' | 'trace'>,
  { sessions, openId }: { sessions: AppSessions; openId: OpenId },
): Router {
  const router = new Router();
  const personOf = (context: Context) => findPerson(context, sessions, directory);
  const violated = (call: string, fault: OpenIdFault) => trace.recordViolation(`${call}: ${fault}`);

  router.get(AUTHORIZE, (context) => {
    const request = openId.judge(context.URL.searchParams);
    const person = personOf(context);
    if (typeof request === 'string') {
      violated(AUTHORIZE, request);
      showNotice(context, 400, { ...REFUSED, values: { code: request } });
    } else if (person) {
      const values = { bot: bot.name, person: person.name };
      // The page contains nothing of the request, because anyone who sees a page may keep its content.
      const action = `${AUTHORIZE}/${openId.ask(request, person)}`;
      showNotice(context, 200, {
        ...QUESTION,
        formAction: `'self' ${new URL(bot.url).origin}`,
        values,
        choices: { action, name: 'decision', values: CHOICES },
      });
    } else {
      showNotice(context, 403, NOBODY);
    }
  });
  router.post(`${AUTHORIZE}/:question`, async (context) => {
    const decision = new URLSearchParams(await readText(context.req)).get('decision');
    const person = personOf(context);
    const back = person && openId.decide(String(context['params']['question']), person, decision === 'allow');
    if (back === undefined) return showNotice(context, 403, NOBODY);
    context.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    context.redirect(back);
  });
  router.post('/api/openid.connect.token', async (context) => {
    const answer = await openId.token(await formOf(context));
    if (typeof answer === 'string') violated('openid.connect.token', answer);
    context.body = typeof answer === 'string' ? { ok: false, error: answer } : { ok: true, ...answer };
  });
  router.all('/api/openid.connect.userInfo', (context) => {
    const token = /^Bearer (?<token>\S+)$/.exec(context.get('authorization'))?.groups?.['token'] ?? '';
    const told = openId.userInfo(token);
    context.body = told ? { ok: true, ...told } : { ok: false, error: 'invalid_auth' };
  });
  router.get('/openid/connect/keys', async (context) => {
    context.body = await openId.keySet();
  });
  return router;
}

const QUESTION = { title: MESSENGER_TEXTS.mayKnow, text: MESSENGER_TEXTS.mayKnowText };
const NOBODY = { title: MESSENGER_TEXTS.awayTitle, text: MESSENGER_TEXTS.openInMessenger };
const REFUSED = { title: MESSENGER_TEXTS.awayTitle, text: MESSENGER_TEXTS.signInRefused };
const CHOICES: Readonly<Record<string, Bilingual>> = { allow: MESSENGER_TEXTS.allow, deny: MESSENGER_TEXTS.deny };

function findPerson(context: Context, sessions: AppSessions, directory: Directory): PersonView | undefined {
  const session = context.get(APP_SESSION_HEADER);
  const id = session === '' ? undefined : sessions.personOf(session);
  return id === undefined ? undefined : directory.findPerson(id);
}

async function formOf(context: Context): Promise<Readonly<Record<string, unknown>>> {
  try {
    return readArguments(await readText(context.req), context.get('content-type'));
  } catch (error) {
    if (error instanceof SlackFault) return {};
    throw error;
  }
}
