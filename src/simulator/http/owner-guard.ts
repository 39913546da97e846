import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { hashParts, randomToken, sameSecret } from '../../shared/crypto/ids.ts';
import { MessengerError } from '../messenger-error.ts';

const PARAMETER = 'token';
/** Browsers limit cookies to 400 days. */
const COOKIE_SEC = 400 * 24 * 60 * 60;
const REFUSAL = `<!doctype html><meta charset="utf-8"><title>Parley</title>
<p lang="en">Open the address that <code>npm start</code> printed: it contains a token that belongs to the user who started Parley.</p>
<p lang="zh-CN">请打开 <code>npm start</code> 显示的地址，其中的 token 仅供启动 Parley 的用户使用。</p>
`;

/**
 * Recognizes the browser of the user who started Parley, because every user of a machine can connect to its loopback ports.
 */
export interface OwnerGuard {
  /** Admits the owner. The printed address sets the cookie; without the cookie, page and API return 403. */
  middleware: Middleware;
  /** The printed address. */
  address(): string;
  /** A single-use address for a program that opens a browser: other users can read the arguments of a running process. */
  addressForOnce(): string;
  /** Whether a request has the owner's cookie. */
  isOwner(request: IncomingMessage): boolean;
}

/**
 * @param url the messenger's own address: browsers send a cookie to every port of a host, so the cookie's name includes the
 * port
 */
export function createOwnerGuard(token: string, url: () => string): OwnerGuard {
  // Differs from the token, which is printed.
  const cookie = hashParts('messenger cookie', token);
  const cookieName = () => `parley-messenger-${new URL(url()).port}`;
  const isOwner = ({ headers }: IncomingMessage) =>
    (headers.cookie ?? '').split(';').some((pair) => {
      const [name = '', value = ''] = pair.trim().split('=');
      return name === cookieName() && sameSecret(value, cookie);
    });
  const addressWith = (value: string) => `${url()}/?${PARAMETER}=${value}`;
  const unused = new Set<string>();
  const isToken = (given: string) => sameSecret(given, token) || unused.delete(given);
  return {
    isOwner,
    address: () => addressWith(token),
    addressForOnce() {
      const once = randomToken();
      unused.add(once);
      return addressWith(once);
    },
    async middleware(context, next): Promise<void> {
      if (isPage(context) && isToken(String(context.query[PARAMETER] ?? ''))) {
        context.set(
          'Set-Cookie',
          `${cookieName()}=${cookie}; Path=/; Max-Age=${COOKIE_SEC}; HttpOnly; SameSite=Strict`,
        );
        context.set('Cache-Control', 'no-store');
        context.set('Referrer-Policy', 'no-referrer');
        // Removes the token from the address bar.
        context.redirect(context.path);
        return;
      }
      if (isOwner(context.req)) {
        await next();
        return;
      }
      if (!isPage(context)) throw new MessengerError('not_owner', 'Open the address that npm start printed first');
      context.status = 403;
      context.type = 'html';
      context.set('Cache-Control', 'no-store');
      context.body = REFUSAL;
    },
  };
}

function isPage({ method, path }: Context): boolean {
  return method === 'GET' && path === '/';
}
