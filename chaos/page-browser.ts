/** A page as loaded by a browser. */
export interface Page {
  url: string;
  status: number;
  text: string;
}

const MAX_REDIRECTS = 12;
const LIMIT_MS = 6_000;

/** A headless browser: stores cookies by origin, follows redirects and pages that go on by themselves, submits forms. */
export class PageBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** @param form submitted as a form of the page at `from`. @throws Error if a page could not be loaded in time */
  async open(address: string, form?: { fields: Record<string, string>; from: string }): Promise<Page> {
    let [url, sent] = [new URL(address), form];
    for (let redirects = 0; redirects < MAX_REDIRECTS; redirects += 1) {
      const response = await this.#send(url, sent);
      const text = await response.text();
      const location = response.headers.get('location') ?? refreshOf(text);
      if (location === undefined) return { url: url.href, status: response.status, text };
      [url, sent] = [new URL(location, url), undefined];
    }
    throw new Error('Too many redirects');
  }

  async #send(url: URL, form?: { fields: Record<string, string>; from: string }): Promise<Response> {
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>();
    this.#cookies.set(url.origin, jar);
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
      headers: {
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form ? { origin: new URL(form.from).origin, 'sec-fetch-site': 'same-origin' } : {}),
      },
      ...(form ? { method: 'POST', body: new URLSearchParams(form.fields) } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    return response;
  }
}

function refreshOf(text: string): string | undefined {
  return /http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
}
