import Router from '@koa/router';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { APP_SESSION_HEADER, type AppSessions } from '../browser/app-sessions.ts';
import { showNotice } from '../browser/notice-page.ts';
import { BOT_FILE_ROUTE, serveBotFile } from '../http/bot-file.ts';
import { MESSENGER_TEXTS } from '../messenger-texts.ts';
import type { ShortLivedSecrets } from '../short-lived-secrets.ts';
import type { AppApi } from './app-api.ts';
import type { ApiResult } from './api-result.ts';
import type { MediaDownloads } from './media-downloads.ts';
import type { ResponseUrls } from './response-urls.ts';
import { judgeAuthorize, type AuthorizeRules } from './web-sign-in.ts';

export interface PlatformRoutesOptions {
  api: AppApi;
  responseUrls: ResponseUrls;
  downloads: MediaDownloads;
  /** A file of the bot for people; absent if the bot uploads none. */
  findFile?(key: string): { name: string; bytes: Buffer } | undefined;
  sessions: AppSessions;
  codes: ShortLivedSecrets<string>;
  rules: AuthorizeRules;
}

/** The platform's own endpoints: its API, its media downloads, and its web sign-in. */
export function platformRoutes(options: PlatformRoutesOptions): Router {
  const router = new Router();
  const { api, responseUrls, downloads, findFile } = options;
  router.use(bodyParser({ jsonLimit: '1mb', enableTypes: ['json'] }));
  router.get('/cgi-bin/gettoken', (context) => {
    context.body = api.getToken(query(context, 'corpid') ?? '', query(context, 'corpsecret') ?? '');
  });
  withToken(router, 'get', '/cgi-bin/auth/getuserinfo', api, (context) => api.getUserInfo(query(context, 'code')));
  withToken(router, 'get', '/cgi-bin/user/get', api, (context) => api.getUser(query(context, 'userid')));
  withToken(router, 'post', '/cgi-bin/message/send', api, (context) => api.sendMessage(context.request.body));
  withToken(router, 'post', '/cgi-bin/batch/openuserid_to_userid', api, (context) =>
    api.resolveOpenUserIds(context.request.body),
  );
  router.post('/cgi-bin/aibot/response', async (context) => {
    context.body = await responseUrls.use(query(context, 'response_code') ?? '', context.request.body);
  });
  router.get('/media/:id', async (context) => {
    const id = String(context.params['id']);
    const { sealed, fileName } = await downloads.download(
      id,
      query(context, 'expires') ?? '',
      query(context, 'sign') ?? '',
    );
    context.attachment(fileName);
    context.type = 'application/octet-stream';
    context.body = sealed;
  });
  if (findFile) router.get(BOT_FILE_ROUTE, (context) => serveBotFile(context, findFile(String(context.params['key']))));
  router.get('/connect/oauth2/authorize', (context) => authorize(context, options));
  return router;
}

function withToken(
  router: Router,
  method: 'get' | 'post',
  path: string,
  api: AppApi,
  answer: (context: Context) => ApiResult | Promise<ApiResult>,
): void {
  router[method](path, async (context) => {
    context.body = api.tokenFault(query(context, 'access_token')) ?? (await answer(context));
  });
}

/**
 * Redirects the in-app browser back with a code; `snsapi_base` requires no confirmation (PLATFORM_FACTS.md
 * wecom-web-sign-in).
 */
function authorize(context: Context, { sessions, codes, rules }: PlatformRoutesOptions): void {
  const session = context.get(APP_SESSION_HEADER);
  const personId = session === '' ? undefined : sessions.personOf(session);
  const verdict = judgeAuthorize(
    { query: context.URL.searchParams, userAgent: context.get('user-agent'), personId },
    rules,
  );
  context.set('Cache-Control', 'no-store');
  if ('refused' in verdict) {
    const isOutside = verdict.refused === 'not_in_app';
    return showNotice(context, isOutside ? 403 : 400, {
      title: MESSENGER_TEXTS.awayTitle,
      text: isOutside ? MESSENGER_TEXTS.openInApp : MESSENGER_TEXTS.signInRefused,
      values: { code: String(verdict.refused) },
    });
  }
  const target = new URL(verdict.redirectUri);
  target.searchParams.set('code', codes.issue(verdict.personId));
  target.searchParams.set('state', verdict.state);
  context.set('Referrer-Policy', 'no-referrer');
  context.redirect(target.href);
}

/** A query parameter that occurs once; a repeated one counts as missing. */
function query(context: Context, name: string): string | undefined {
  const value = context.query[name];
  return typeof value === 'string' ? value : undefined;
}
