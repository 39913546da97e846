import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readForm, startStandIn } from '../../../service/sign-in-support.ts';
import { showLoginForm } from './login-form.ts';

const NS = 'xmlns:cas="http://www.yale.edu/tp/cas"';

export interface CasStandIn {
  /** Base address of the server. It ends like that of the OAuth 2.0 stand-in, so that the attacks match it. */
  url: string;
  clientId: '';
  clientSecret: '';
  returns: 'ticket';
  /** Overrides the next responses; undefined for valid ones. */
  answer: ((account: string) => { status?: number; body: string | Buffer; type?: string }) | undefined;
  /** Service addresses that the server accepts. Defaults to all. */
  services: RegExp;
  /** Whether browsers without `x-account` get a login form, and are remembered by a session cookie. */
  hasSessions: boolean;
  /** Whether a ticket is valid for every service address, which is a severe fault. */
  ignoresService: boolean;
  /** Available validation paths, and the response on all others. */
  validates: { at: readonly string[]; elsewhere: { status: number; body: string; headers?: Record<string, string> } };
  /** `madeUp`: the paths that were asked to validate a made-up ticket. */
  seen: { authorize: URLSearchParams[]; codes: string[]; madeUp: string[] };
  /** Issues a ticket for an account; for one service address, if given. */
  mintCode(account: string, service?: string): string;
  close(): Promise<void>;
}

export function casAnswer(inner: string): string {
  return `<cas:serviceResponse ${NS}>${inner}</cas:serviceResponse>`;
}

/** A successful validation response. */
export function casSuccess(account: string): string {
  const user = `<cas:user>${account}</cas:user><cas:attributes><cas:cn>Person ${account}</cas:cn></cas:attributes>`;
  return casAnswer(`<cas:authenticationSuccess>${user}</cas:authenticationSuccess>`);
}

/** A CAS server (protocol 3). A ticket is valid once, and only for the exact service address it was issued for. */
export async function startCasStandIn(): Promise<CasStandIn> {
  const tickets = new Map<string, { account: string; service: string | undefined }>();
  const sessions = new Map<string, string>();
  const server = await startStandIn((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', server.url);
    const service = searchParams.get('service') ?? '';
    if (pathname === '/oauth2.0/authorize/login') return logIn(request, response, searchParams);
    if (pathname === '/oauth2.0/authorize/logout') {
      sessions.delete(sessionOf(request));
      // CAS does not redirect to an unknown service address after a logout (protocol 3.0.3, section 2.3.2).
      if (stand.services.test(service)) return response.writeHead(302, { location: service }).end();
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Logged out</h1>');
    }
    const path = pathname.replace('/oauth2.0/authorize', '');
    const ticket = searchParams.get('ticket') ?? '';
    if (ticket.startsWith('ST-parley-made-up-')) stand.seen.madeUp.push(path);
    else stand.seen.codes.push(ticket);
    if (!stand.validates.at.includes(path)) {
      // Worst case: an unavailable path spends the ticket anyway.
      tickets.delete(ticket);
      const { status, headers, body } = stand.validates.elsewhere;
      return response.writeHead(status, headers).end(body);
    }
    const found = tickets.get(ticket);
    tickets.delete(ticket);
    const isFirstProtocol = path === '/validate';
    const refused = isFirstProtocol
      ? 'no\n\n'
      : casAnswer('<cas:authenticationFailure code="INVALID_TICKET">unknown</cas:authenticationFailure>');
    const account = stand.ignoresService || found?.service === service ? found?.account : undefined;
    const bent = account === undefined ? undefined : stand.answer?.(account);
    const accepted = isFirstProtocol ? `yes\n${account ?? ''}\n` : casSuccess(account ?? '');
    return response
      .writeHead(bent?.status ?? 200, bent?.type === undefined ? {} : { 'content-type': bent.type })
      .end(bent?.body ?? (account === undefined ? refused : accepted));
  });
  const logIn = async (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => {
    const service = query.get('service') ?? '';
    stand.seen.authorize.push(query);
    if (!stand.services.test(service))
      return response
        .writeHead(403, { 'content-type': 'text/html' })
        .end('<h1>Application Not Authorized to Use CAS</h1>');
    const given = request.headers['x-account'];
    const known = query.get('renew') === 'true' ? undefined : sessions.get(sessionOf(request));
    const typed = request.method === 'POST' ? (await readForm(request)).get('username') : undefined;
    const account = given ?? known ?? typed ?? (stand.hasSessions ? undefined : '20001');
    if (account === undefined) return showLoginForm(response);
    const session = randomBytes(12).toString('hex');
    if (stand.hasSessions) response.setHeader('set-cookie', `TGC=${session}; Path=/; HttpOnly`);
    sessions.set(session, String(account));
    const ticket = stand.mintCode(String(account), service);
    return response.writeHead(302, { location: `${service}&${new URLSearchParams({ ticket }).toString()}` }).end();
  };
  const stand: CasStandIn = {
    ...server,
    url: `${server.url}/oauth2.0/authorize`,
    ...{
      clientId: '',
      clientSecret: '',
      returns: 'ticket',
      answer: undefined,
      services: /^/,
      hasSessions: false,
      ignoresService: false,
    },
    validates: { at: ['/p3/serviceValidate'], elsewhere: { status: 404, body: '' } },
    seen: { authorize: [], codes: [], madeUp: [] },
    mintCode(account, service) {
      const ticket = `ST-${randomBytes(12).toString('hex')}`;
      tickets.set(ticket, { account, service });
      return ticket;
    },
  };
  return stand;
}

function sessionOf({ headers }: IncomingMessage): string {
  return /(?:^|; )TGC=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? '';
}
