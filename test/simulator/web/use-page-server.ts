import { afterAll, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { BROWSER_WAIT_MS, launchChromium } from '../../support/chromium.ts';
import { startPageServer, type PageServer, type PageServerOptions } from './page-server.ts';

/**
 * Chromium and a page server for one test file. Call it once, outside of tests, and read the server's properties within
 * them.
 */
export function usePageServer(options: PageServerOptions) {
  const server = {} as PageServer;
  let browser: Browser;
  beforeAll(async () => {
    const [launched, started] = await Promise.all([launchChromium(), startPageServer(options)]);
    browser = launched;
    Object.assign(server, started);
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  /** A new browser profile. */
  const newContext = async (profile: BrowserContextOptions): Promise<BrowserContext> => {
    const context = await browser.newContext(profile);
    context.setDefaultTimeout(BROWSER_WAIT_MS);
    return context;
  };
  return { server, newContext };
}
