import { Agent } from 'node:http';
import { got } from 'got';
import { FAKE_PLATFORM_ORIGIN, type FakePlatform } from '../../support/fake-platform.ts';

export interface Answer {
  url: string;
  status: number;
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface BrowserOwner {
  /** The account that this browser uses at the sign-in service. */
  account?: string;
  /** The user id in the messaging app of this browser. */
  member?: string;
  platform?: FakePlatform;
}

type Headers = Record<string, string>;

/** Without kept connections, which end with the process when a test restarts it. */
const agent = { http: new Agent({ keepAlive: false }) };

/** Where the page behind the form that starts a sign-in goes on by itself. */
export function leavesFor(url: string, text: string): string | undefined {
  if (!/\/(?:start|sign-in\/again)$/.test(url)) return undefined;
  return /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
}

/** The browser of one person: keeps cookies by origin, follows redirects and submits forms. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  /** All redirect targets, in order. */
  readonly visited: string[] = [];
  readonly #owner: BrowserOwner;

  constructor(owner: BrowserOwner = {}) {
    this.#owner = owner;
  }

  /** Sends one request without following redirects. The page that leads to a sign-in counts as one, with status 200. */
  async send(
    method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST',
    url: string,
    options: { form?: Headers; headers?: Headers } = {},
  ): Promise<Answer> {
    const origin = new URL(url).origin;
    const cookie = [...this.cookies]
      .filter(([key]) => key.startsWith(`${origin} `))
      .map(([key, value]) => `${key.split(' ')[1]}=${value}`);
    const response = await got(url, {
      agent,
      method,
      ...(options.form ? { form: options.form } : {}),
      headers: {
        ...(cookie.length > 0 ? { cookie: cookie.join('; ') } : {}),
        ...(this.#owner.account ? { 'x-account': this.#owner.account } : {}),
        ...(this.#owner.member ? { 'x-member': this.#owner.member } : {}),
        ...options.headers,
      },
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(`${origin} ${name}`, value);
    }
    const { statusCode: status, body: text, headers } = response;
    const location = leavesFor(url, text);
    return { url, status, text, headers: location === undefined ? headers : { ...headers, location } };
  }

  get(url: string, headers?: Headers): Promise<Answer> {
    return this.send('GET', url, headers ? { headers } : {});
  }

  /** Follows redirects to the last page, or stops before the first address that matches `until`. */
  async follow(answer: Answer, until?: RegExp): Promise<Answer> {
    let current = answer;
    for (let hops = 0; hops < 12; hops += 1) {
      const location = current.headers['location'];
      if (typeof location !== 'string' || until?.test(location)) return current;
      const target = new URL(location, current.url);
      this.visited.push(target.href);
      current = target.origin === FAKE_PLATFORM_ORIGIN ? this.#platformSignIn(target) : await this.get(target.href);
    }
    throw new Error('Too many redirects');
  }

  /** Submits a form of the page like a click; `action` selects one of several forms. */
  submit(page: Answer, action?: string, headers: Headers = {}): Promise<Answer> {
    const forms = [...page.text.matchAll(/<form[^>]*action="(?<action>[^"]*)"[^>]*>(?<inner>[\s\S]*?)<\/form>/g)];
    const form = forms.find(({ groups }) => action === undefined || groups?.['action'] === action);
    if (!form?.groups) throw new Error(`No such form on the page (status ${page.status})`);
    const inputs = [...(form.groups['inner'] ?? '').matchAll(/<input[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
    const values = Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, value]));
    const url = new URL(form.groups['action'] ?? '', page.url);
    return this.send('POST', url.href, {
      form: values,
      headers: { origin: url.origin, 'sec-fetch-site': 'same-origin', ...headers },
    });
  }

  #platformSignIn(target: URL): Answer {
    const { platform, member } = this.#owner;
    if (!platform || member === undefined)
      return { url: target.href, status: 200, text: 'open this in the app', headers: {} };
    const back = new URL(target.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('code', platform.codeFor(member));
    back.searchParams.set('state', target.searchParams.get('state') ?? '');
    return { url: target.href, status: 302, text: '', headers: { location: back.href } };
  }
}
