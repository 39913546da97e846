import { got, type Response } from 'got';

export interface ProbePerson {
  /** The account for the service's own sign-in form. */
  username?: string;
  password?: string;
  language?: string;
}

/**
 * A scripted browser of the administrator: keeps cookies by origin, follows redirects and `Refresh`, signs in and consents
 * at the service, returns to the link after an error page, and signs out on request.
 */
export class ProbeBrowser {
  /** Every page title in order, without repetitions. */
  readonly titles: string[] = [];
  /** Every page of the probe, as received. */
  readonly pages: Response<string>[] = [];
  readonly #cookies = new Map<string, string>();
  readonly #person: ProbePerson;

  constructor(person: ProbePerson = {}) {
    this.#person = person;
  }

  /** Follows the link to the last page, or until the probe has ended. */
  async walk(link: string): Promise<void> {
    const started = await this.send(link);
    let page = await this.send(`${link}/start`, { form: {}, from: started.url });
    for (let step = 0; step < 200; step += 1) {
      const next = await this.#next(page, link).catch((error: unknown) => {
        // The probe ends when all tests are done, possibly before its last page is fetched.
        if (['ECONNREFUSED', 'ECONNRESET'].includes(String((error as NodeJS.ErrnoException).code))) return undefined;
        throw error;
      });
      if (next === undefined) return;
      page = next;
    }
    throw new Error('The probe does not end');
  }

  async #next(page: Response<string>, link: string): Promise<Response<string> | undefined> {
    const { location, refresh } = page.headers;
    if (location !== undefined) return this.send(new URL(location, page.url).href);
    const isProbes = page.url.startsWith(link);
    if (isProbes && page.body.includes('target="_blank"')) {
      const logout = /href="([^"]+)" target="_blank"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const asks = await this.send(logout);
      const action = /<form[^>]*action="([^"]+)"/.exec(asks.body)?.[1];
      const away = action === undefined ? asks : await this.send(action, { form: hiddenIn(asks.body), from: asks.url });
      if (away.headers.location !== undefined) return this.send(away.headers.location);
      return this.send(`${link}/signed-out`, { form: {}, from: link });
    }
    if (typeof refresh === 'string') {
      const [seconds = '0', target = ''] = refresh.split('; url=');
      await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 30));
      return this.send(new URL(target, page.url).href);
    }
    if (isProbes && page.body.includes(`${link.slice(new URL(link).origin.length)}/skip`))
      return this.send(`${link}/skip`, { form: {}, from: link });
    if (isProbes) return undefined;
    return this.#atService(page, link);
  }

  async #atService(page: Response<string>, link: string): Promise<Response<string>> {
    const action = /<form[^>]*action="([^"]*)"/.exec(page.body)?.[1];
    if (page.statusCode >= 400 || action === undefined) return this.send(link);
    const form = hiddenIn(page.body);
    const typed: Record<string, string> = page.body.includes('name="password"')
      ? { username: this.#person.username ?? '', password: this.#person.password ?? '' }
      : { decision: 'allow', remember: 'yes' };
    return this.send(new URL(action, page.url).href, { form: { ...form, ...typed }, from: page.url });
  }

  /** Sends one request without redirects. `from` is the page whose form is sent. */
  async send(url: string, post?: { form: Record<string, string>; from: string }): Promise<Response<string>> {
    const { origin } = new URL(url);
    const cookies = [...this.#cookies].filter(([key]) => key.startsWith(`${origin} `));
    const response = await got(url, {
      ...(post ? { method: 'POST' as const, form: post.form } : {}),
      headers: {
        'accept-language': this.#person.language ?? 'en',
        ...(cookies.length > 0
          ? { cookie: cookies.map(([key, value]) => `${key.split(' ')[1]}=${value}`).join('; ') }
          : {}),
        ...(post ? { origin: new URL(post.from).origin, 'sec-fetch-site': 'same-origin' } : {}),
      },
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(`${origin} ${name}`, value);
    }
    const title = /<title>([^<]*)<\/title>/.exec(response.body)?.[1];
    if (title !== undefined && this.titles.at(-1) !== title) this.titles.push(title);
    if (url.includes('/probe/')) this.pages.push(response);
    return response;
  }
}

function hiddenIn(body: string): Record<string, string> {
  const hidden = [...body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
}
