import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isHostOrRange, denyEgressTo } from '../../../src/shared/web/denied-hosts.ts';
import { checkAddress, PUBLIC_WEB } from '../../../src/shared/web/egress-policy.ts';
import { createReadPage } from '../../../src/bot/tools/read-page.ts';
import { TOOLS } from '../../../src/bot/tools/registry.ts';
import { parseToolsFile } from '../../../src/bot/tools/tools-file.ts';
import { startSmallWeb, type SmallWeb } from '../../support/small-web.ts';

const CAMPUS: Partial<Record<string, string>> = {
  'www.example.edu': '93.184.216.10',
  'grades.intranet.example.edu': '93.184.216.34',
};
const resolving = {
  ...PUBLIC_WEB,
  resolve: (hostname: string) => Promise.resolve([CAMPUS[hostname] ?? '93.184.216.34']),
};

async function verdict(address: string, ...never: string[]): Promise<string> {
  return checkAddress(address, denyEgressTo(resolving, never)).then(
    () => 'open',
    (error: unknown) => (error as { code: string }).code,
  );
}

describe('hosts that read_page may never reach', () => {
  test.each([
    ['https://intranet.example.edu/', 'intranet.example.edu'],
    ['https://grades.intranet.example.edu/', 'intranet.example.edu'],
    ['https://GRADES.intranet.EXAMPLE.edu./', 'Intranet.example.edu'],
    ['https://校内.example.edu/', '校内.example.edu'],
    ['https://xn--4gqv0o.example.edu/', 'xn--4gqv0o.example.edu'],
    ['https://elsewhere.example/', '93.184.216.0/24'],
    ['https://93.184.216.34/', '93.184.216.34'],
    ['https://[2606:2800:220:1::1]/', '2606:2800::/32'],
  ])('include %s, by %s', async (address, never) => {
    expect(await verdict(address)).toBe('open');
    expect(await verdict(address, 'other.example', never)).toBe('refused');
  });

  test('do not include any other host', async () => {
    for (const address of [
      'https://www.example.edu/',
      'https://notintranet.example.edu/',
      'https://intranet.example.edu.example/',
    ])
      expect(await verdict(address, 'intranet.example.edu', '198.51.100.0/24')).toBe('open');
  });

  test('are a list of hosts and ranges', () => {
    for (const entry of ['example.edu', 'localhost', '10.0.0.0/8', '192.0.2.1', '2001:db8::/32', '校内.example.edu'])
      expect([entry, isHostOrRange(entry)]).toEqual([entry, true]);
    for (const entry of ['', 'https://example.edu', '10.0.0.0/33', '10.0.0', '2001:db8::/129', '*.example.edu', 'a b'])
      expect([entry, isHostOrRange(entry)]).toEqual([entry, false]);
  });

  test('are allowed in the tools file for read_page only', () => {
    const parse = (tools: object) => parseToolsFile(JSON.stringify({ tools }), TOOLS);
    expect(parse({ read_page: { on: true, never: ['example.edu'] } })['read_page']?.never).toEqual(['example.edu']);
    expect(parse({ read_page: { on: true } })['read_page']?.never).toBeUndefined();
    expect(() => parse({ read_page: { on: true, never: ['https://x'] } })).toThrow('read_page.never[0]');
    expect(() => parse({ web_search: { on: true, never: ['example.edu'] } })).toThrow('web_search.never');
  });
});

describe('a page on a denied host', () => {
  let web: SmallWeb;
  beforeAll(async () => {
    web = await startSmallWeb();
  });
  afterAll(() => web.close());

  test('is not opened, even if a person wrote its address', async () => {
    const read = async (never: string[]) => {
      const context = {
        person: undefined,
        place: { kind: 'private' as const, id: 'u' },
        language: 'en' as const,
        isNamed: (address: string) => address === web.pageUrl,
        cite: () => 1,
      };
      const use = createReadPage(denyEgressTo(web.reach, never)).prepare(
        JSON.stringify({ address: web.pageUrl }),
        context,
      );
      if ('fault' in use) throw new Error(use.fault);
      return use.run(new AbortController().signal);
    };
    expect(await read([])).toContain('opens at seven');
    await expect(read(['library.example'])).rejects.toMatchObject({ code: 'refused' });
    await expect(read(['127.0.0.0/8'])).rejects.toMatchObject({ code: 'refused' });
    expect(web.opened).toHaveLength(1);
  });
});
