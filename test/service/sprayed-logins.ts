import { authorizePath, Browser, type TestService } from './support.ts';

const AT_ONCE = 25;

/** A browser at an address, with a function that tries passwords on one login form. */
export async function browserAt(service: TestService, address: string) {
  const browser = new Browser(service.url, { 'x-forwarded-for': address });
  const page = await browser.get(authorizePath());
  const attempt = async (username: string, password: string) =>
    (await browser.submit(page, { username, password })).statusCode;
  return { browser, attempt };
}

/** Tries one wrong password for each of many names from one address. All are refused. */
export async function spray(service: TestService, address: string, count: number): Promise<number[]> {
  const { attempt } = await browserAt(service, address);
  const statuses: number[] = [];
  for (let done = 0; done < count; done += AT_ONCE) {
    const tries = Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, index) =>
      attempt(`person${done + index}`, 'Summer2026'),
    );
    statuses.push(...(await Promise.all(tries)));
  }
  return statuses;
}
