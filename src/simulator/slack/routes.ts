import Router from '@koa/router';
import type { Context } from 'koa';
import { sameSecret } from '../../shared/crypto/ids.ts';
import type { AppSessions } from '../browser/app-sessions.ts';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext } from '../protocol.ts';
import { botFileRoutes } from './bot-file-routes.ts';
import { readArguments, textOf, type CallArguments } from './call-arguments.ts';
import { openIdRoutes } from './open-id-routes.ts';
import type { OpenId } from './open-id.ts';
import type { RateLimits } from './rate-limits.ts';
import { readText } from './read-text.ts';
import type { Responses } from './responses.ts';
import { SlackFault } from './slack-fault.ts';
import { scopeOf } from './scopes.ts';
import type { SocketEvents } from './socket-events.ts';
import type { WebApi } from './web-api.ts';
import { TEAM_ID } from './workspace.ts';

export interface SlackRoutesOptions {
  side: MessengerContext;
  sessions: AppSessions;
  api: WebApi;
  limits: RateLimits;
  /** App-level token, if the app is reached over sockets; it can only open sockets. */
  tokens: { bot: string; app: string | undefined };
  /** Scopes of the bot's token. */
  scopes: readonly string[];
  responses: Responses;
  openId: OpenId;
  /** Set if the app is reached over sockets. */
  sockets: SocketEvents | undefined;
}

const OPEN_SOCKET = 'apps.connections.open';
/** Slack's method names contain a dot; the page's own API paths do not. */
const METHOD = /^\w+(?:\.\w+)+$/;

/** Slack's own endpoints: web sign-in, Web API and files. */
export function slackRoutes(options: SlackRoutesOptions): Router {
  const router = new Router();
  // Registered before the calls that require the bot's token.
  router.use(openIdRoutes(options.side, options).routes());
  router.all('/api/:method', (context, next) =>
    METHOD.test(methodOf(context)) ? answerCall(context, options) : next(),
  );
  router.post(['/commands/:code', '/actions/:code'], async (context) => {
    const args = await argumentsOf(context);
    const code = String(context['params']['code']);
    const { status, body } = await options.responses.show(code, () => {
      if ('fault' in args) throw args.fault;
      return args.read;
    });
    context.status = status;
    context.body = body;
  });
  router.use(botFileRoutes(options.api.files).routes());
  router.get(`/files-pri/:file/:rest{/:name}`, (context) => serveFile(context, options));
  return router;
}

function methodOf(context: Context): string {
  return String((context['params'] as Record<string, string>)['method']);
}

async function answerCall(context: Context, options: SlackRoutesOptions): Promise<void> {
  const { side, api, limits, tokens, sockets, scopes } = options;
  const method = methodOf(context);
  const args = await argumentsOf(context);
  const fault = tokenFault({ method, tokens }, tokenOf(context, args));
  if (fault !== undefined) {
    side.trace.recordViolation(`${method}: ${fault}`);
    context.body = { ok: false, error: fault };
    return;
  }
  const channel = 'fault' in args ? undefined : textOf(args.read, 'channel');
  if (method !== OPEN_SOCKET) context.set('X-OAuth-Scopes', scopes.join(','));
  const needed = scopeOf(method, channel);
  if (needed !== undefined && !scopes.includes(needed)) {
    side.trace.recordViolation(`${method}: missing_scope`);
    context.body = { ok: false, error: 'missing_scope', needed, provided: scopes.join(',') };
    return;
  }
  const retryAfterSec = limits.take(method, channel);
  if (retryAfterSec !== undefined) {
    context.status = 429;
    context.set('Retry-After', String(retryAfterSec));
    context.body = { ok: false, error: 'ratelimited' };
    return;
  }
  if (method === OPEN_SOCKET && sockets) {
    context.body = { ok: true, url: sockets.makeAddress() };
    return;
  }
  context.body = await api.call(method, () => {
    if ('fault' in args) throw args.fault;
    return args.read;
  });
}

type ReadArguments = { read: CallArguments } | { fault: SlackFault };

async function argumentsOf(context: Context): Promise<ReadArguments> {
  const body = context.method === 'GET' ? context.querystring : await readText(context.req);
  const contentType = context.method === 'GET' ? 'application/x-www-form-urlencoded' : context.get('content-type');
  try {
    return { read: readArguments(body, contentType) };
  } catch (error) {
    if (error instanceof SlackFault) return { fault: error };
    throw error;
  }
}

/** The token is sent as a Bearer header, or as an argument. */
function tokenOf(context: Context, args: ReadArguments): string | undefined {
  const bearer = /^Bearer (?<token>\S+)$/.exec(context.get('authorization'))?.groups?.['token'];
  return bearer ?? ('fault' in args ? undefined : textOf(args.read, 'token'));
}

type TokenFault = 'not_authed' | 'invalid_auth' | 'not_allowed_token_type';

function tokenFault(
  { method, tokens }: { method: string } & Pick<SlackRoutesOptions, 'tokens'>,
  token: string | undefined,
): TokenFault | undefined {
  if (token === undefined) return 'not_authed';
  const isBots = sameSecret(token, tokens.bot);
  const isApps = tokens.app !== undefined && sameSecret(token, tokens.app);
  if (!isBots && !isApps) return 'invalid_auth';
  return isApps === (method === OPEN_SOCKET) ? undefined : 'not_allowed_token_type';
}

/**
 * A file, for requests with the bot's token; all others get a login page with status 200 (PLATFORM_FACTS.md slack-messages).
 */
async function serveFile(context: Context, { side, tokens }: SlackRoutesOptions): Promise<void> {
  const mediaId = new RegExp(`^${TEAM_ID}-(?<id>[\\w-]+)$`).exec(
    String((context['params'] as Record<string, string>)['file']),
  )?.groups?.['id'];
  const bearer = /^Bearer (?<token>\S+)$/.exec(context.get('authorization'))?.groups?.['token'] ?? '';
  if (!sameSecret(bearer, tokens.bot)) {
    side.trace.recordViolation('a file was requested without the bot token');
    context.type = 'text/html; charset=utf-8';
    context.body = '<!doctype html><title>Sign in</title><p>Sign in to see this file.</p>';
    return;
  }
  if (mediaId === undefined) throw new MessengerError('not_found', 'No such file');
  const image = await side.media.readImage(mediaId).catch(() => undefined);
  const file = image ? undefined : await side.media.file(mediaId);
  if (file) context.attachment(file.name);
  context.type = image?.type ?? (file?.name.endsWith('.html') === true ? 'text/html' : 'application/octet-stream');
  context.body = image?.bytes ?? file?.bytes;
}
