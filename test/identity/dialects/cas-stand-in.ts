import { randomBytes } from 'node:crypto';
import { startStandIn } from '../../service/sign-in-support.ts';

const NS = 'xmlns:cas="http://www.yale.edu/tp/cas"';

export interface CasStandIn {
  /** Base of the server. Its login address lies below the specified service's, so that the same attacks find it. */
  url: string;
  clientId: '';
  clientSecret: '';
  returns: 'ticket';
  /** Says what is wrong in the next answers; undefined for a right one. */
  answer: ((account: string) => { status?: number; body: string }) | undefined;
  seen: { authorize: URLSearchParams[]; codes: string[] };
  /** A ticket as if this account had just signed in; for the service address of a started flow, if given. */
  mintCode(account: string, service?: string): string;
  close(): Promise<void>;
}

export function casAnswer(inner: string): string {
  return `<cas:serviceResponse ${NS}>${inner}</cas:serviceResponse>`;
}

/** What CAS says of an account. */
export function casSuccess(account: string): string {
  const user = `<cas:user>${account}</cas:user><cas:attributes><cas:cn>Person ${account}</cas:cn></cas:attributes>`;
  return casAnswer(`<cas:authenticationSuccess>${user}</cas:authenticationSuccess>`);
}

/** A CAS server (protocol 3): a ticket counts once, and only for the service address that it was given for, letter by letter. */
export async function startCasStandIn(): Promise<CasStandIn> {
  const tickets = new Map<string, { account: string; service: string | undefined }>();
  const server = await startStandIn((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', server.url);
    const service = searchParams.get('service') ?? '';
    if (pathname === '/oauth2.0/authorize/login') {
      stand.seen.authorize.push(searchParams);
      const ticket = stand.mintCode(String(request.headers['x-account'] ?? '20001'), service);
      return response.writeHead(302, { location: `${service}&${new URLSearchParams({ ticket }).toString()}` }).end();
    }
    if (pathname === '/oauth2.0/authorize/logout') return response.writeHead(302, { location: service }).end();
    if (pathname !== '/oauth2.0/authorize/p3/serviceValidate') return response.writeHead(404).end();
    const ticket = searchParams.get('ticket') ?? '';
    stand.seen.codes.push(ticket);
    const found = tickets.get(ticket);
    tickets.delete(ticket);
    const refused = casAnswer('<cas:authenticationFailure code="INVALID_TICKET">unknown</cas:authenticationFailure>');
    const account = found?.service === service ? found.account : undefined;
    const bent = account === undefined ? undefined : stand.answer?.(account);
    return response
      .writeHead(bent?.status ?? 200)
      .end(bent?.body ?? (account === undefined ? refused : casSuccess(account)));
  });
  const stand: CasStandIn = {
    ...server,
    url: `${server.url}/oauth2.0/authorize`,
    ...{ clientId: '', clientSecret: '', returns: 'ticket', answer: undefined },
    seen: { authorize: [], codes: [] },
    mintCode(account, service) {
      const ticket = `ST-${randomBytes(12).toString('hex')}`;
      tickets.set(ticket, { account, service });
      return ticket;
    },
  };
  return stand;
}
