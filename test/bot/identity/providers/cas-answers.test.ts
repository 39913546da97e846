import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { useTestRedis } from '../../../support/use-test-redis.ts';
import { startIdentityFixture, type IdentityFixture } from '../identity-fixture.ts';
import { casAnswer, casSuccess, startCasStandIn, type CasStandIn } from './cas-stand-in.ts';

const server = useTestRedis();
let provider: CasStandIn;
let fixture: IdentityFixture;
beforeEach(async () => {
  provider = await startCasStandIn();
  fixture = await startIdentityFixture(server.redis, {
    provider,
    signIn: { type: 'cas', proof: ['same-browser', 'same-id'] },
  });
});
afterEach(() => Promise.all([fixture.close(), provider.close()]));

const links = () => server.redis.keys('{id}:link:*');

describe('sign-in with CAS', () => {
  test('links without re-checks for 30 days, and signs out at the callback address [daily-check]', async () => {
    const browser = fixture.browser('20001', '20001');
    const done = await fixture.walk(browser, await fixture.link('20001'));
    expect(done.text).toContain('You are signed in as Person 20001');
    const [link = ''] = await links();
    expect(Math.round((await server.redis.pttl(link)) / 86_400_000)).toBe(30);
    expect(await server.redis.hget(link, 'tokens')).toBe('');
    fixture.clock.nowMs += 86_400_000;
    expect(await fixture.identity.recheckDue(10)).toBe(0);
    const { logoutUrl } = await fixture.identity.unlink(fixture.owner, '20001', 'm1');
    expect(logoutUrl).toBe(
      `${provider.url}/logout?${new URLSearchParams({ service: `${fixture.url}/oauth/callback` }).toString()}`,
    );
    const out = await browser.follow(await browser.get(logoutUrl ?? ''));
    expect([out.status, out.text.includes('You are signed out')]).toEqual([200, true]);
  });

  test('ends the link of a reassigned account number after uncheckedLinkDays, before which its new holder is refused [reused-numbers]', async () => {
    await fixture.close();
    const signIn = { type: 'cas' as const, proof: ['typed-code'] as const, uncheckedLinkDays: 7 };
    fixture = await startIdentityFixture(server.redis, { provider, signIn });
    let messages = 0;
    const walkAs = async (chatUserId: string) => {
      const page = await fixture.walk(fixture.browser('20001'), await fixture.link(chatUserId, true));
      const code = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(page.text)?.[0] ?? '';
      const message = {
        owner: fixture.owner,
        chatUserId,
        chatKind: 'private' as const,
        messageId: `message-${(messages += 1)}`,
      };
      return (await fixture.identity.redeemTypedCode({ ...message, text: code }))?.kind;
    };
    const holder = async (chatUserId: string) =>
      (await fixture.identity.accountOf(fixture.owner, chatUserId))?.accountId;
    expect(await walkAs('graduate')).toBe('linked');
    const [link = ''] = await links();
    expect(Math.round((await server.redis.pttl(link)) / 86_400_000)).toBe(7);
    // The new holder of the number is refused, and the first holder is notified.
    expect(await walkAs('newcomer')).toBe('held-elsewhere');
    expect(fixture.notices.at(-1)).toMatchObject({
      person: { chatUserId: 'graduate' },
      notice: { kind: 'account-wanted-elsewhere' },
    });
    expect([await holder('graduate'), await holder('newcomer')]).toEqual(['20001', undefined]);
    // Seven days later.
    for (const name of [...(await links()), ...(await server.redis.keys('{id}:holder:*'))])
      await server.redis.pexpire(name, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await walkAs('newcomer')).toBe('linked');
    expect([await holder('graduate'), await holder('newcomer')]).toEqual([undefined, '20001']);
  });

  test('sends the state in the service address, and redeems the ticket with the same address [fixed-redirect]', async () => {
    await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
    const service = new URL(provider.seen.authorize[0]?.get('service') ?? 'missing:');
    expect(`${service.origin}${service.pathname}`).toBe(`${fixture.url}/oauth/callback`);
    expect(service.search).toMatch(/^\?state=[0-9a-f]{64}$/);
    expect(provider.seen.codes).toHaveLength(1);
  });
});

/** The name on the page after a sign-in. */
const signedInAs = async () => {
  const page = await fixture.walk(fixture.browser('20001', '20001'), await fixture.link('20001'));
  return /You are signed in as ([^.<]*)/.exec(page.text)?.[1] ?? `HTTP ${page.status}`;
};

describe('the validation address of a CAS server', () => {
  const HTML = { status: 200, body: '<!DOCTYPE html><html><body>No such page</body></html>' };
  const ELSEWHERE: CasStandIn['validates']['elsewhere'][] = [
    ...[400, 401, 403, 404, 405, 500, 501, 503].map((status) => ({ status, body: '' })),
    { status: 302, body: '', headers: { location: '/login' } },
    { status: 404, body: HTML.body },
    { status: 403, body: '{"status":403,"error":"Forbidden"}' },
    { ...HTML, headers: { 'content-type': 'text/html' } },
    { status: 200, body: '' },
  ];
  const PATHS = ['/p3/serviceValidate', '/serviceValidate', '/validate'];
  const rows = ELSEWHERE.flatMap((elsewhere) =>
    PATHS.map((path, at) => [path, elsewhere.status, elsewhere.body.slice(0, 15), elsewhere, at] as const),
  );
  test.each(rows)(
    'is found at %s while the newer ones answer %i %s, without spending the ticket [checked-tickets]',
    async (path, _status, _body, elsewhere, at) => {
      provider.validates = { at: PATHS.slice(at), elsewhere };
      expect(await signedInAs()).toBe(path === '/validate' ? '20001' : 'Person 20001');
      expect(provider.seen.codes).toHaveLength(1);
      expect(provider.seen.madeUp).toEqual(PATHS.slice(0, at + 1));
    },
  );

  test('is looked up once for many sign-ins, and again after a response that is no validation', async () => {
    const signIn = async (id: string) => fixture.walkToConfirm(fixture.browser(id, id), await fixture.link(id));
    await signIn('20001');
    await signIn('20002');
    expect(provider.seen.madeUp).toEqual(['/p3/serviceValidate']);
    provider.validates = { at: ['/serviceValidate'], elsewhere: { status: 404, body: '' } };
    // The old address spends the ticket of this sign-in. The flow then restarts once by itself.
    expect((await signIn('20003')).status).toBe(200);
    expect(provider.seen.madeUp).toEqual(['/p3/serviceValidate', '/p3/serviceValidate', '/serviceValidate']);
  });
});

describe('a name in the response format of a public CAS server', () => {
  const NAME = '李雷';
  const success = (inner: string) =>
    casAnswer(`<cas:authenticationSuccess><cas:user>20001</cas:user>${inner}</cas:authenticationSuccess>`);
  const plain = success(`<cas:attributes><cas:cn>${NAME}</cas:cn></cas:attributes>`);
  const json = (attributes: object) =>
    JSON.stringify({ serviceResponse: { authenticationSuccess: { user: '20001', ...attributes } } });
  const gbk = (text: string) => Buffer.from(text.replaceAll(NAME, '\xc0\xee\xc0\xd7'), 'latin1');
  const STYLES: [string, { body: string | Buffer; type?: string }][] = [
    ['below attributes', { body: plain }],
    ['directly beside the user', { body: success(`<cas:cn>${NAME}</cas:cn><cas:proxies/>`) }],
    ['name and value as XML attributes', { body: success(`<cas:attribute name="cn" value="${NAME}"/>`) }],
    [
      'name and value as XML attributes below attributes',
      { body: success(`<cas:attributes><cas:attribute value='${NAME}' name='cn' /></cas:attributes>`) },
    ],
    [
      'name as XML attribute',
      { body: success(`<cas:attributes><cas:attribute name="cn">${NAME}</cas:attribute></cas:attributes>`) },
    ],
    [
      'name and value as elements',
      { body: success(`<cas:attribute><cas:name> cn </cas:name><cas:value>${NAME}</cas:value></cas:attribute>`) },
    ],
    [
      'below userAttributes',
      {
        body: success(
          `<cas:attributes><cas:isFromNewLogin>true</cas:isFromNewLogin><cas:userAttributes><cas:attribute name="cn" value="${NAME}"/></cas:userAttributes></cas:attributes>`,
        ),
      },
    ],
    [
      'values as elements',
      { body: success(`<cas:attributes><cas:cn><cas:value>${NAME}</cas:value></cas:cn></cas:attributes>`) },
    ],
    [
      'several values',
      { body: success(`<cas:attributes><cas:cn>${NAME}</cas:cn><cas:cn>Li Lei</cas:cn></cas:attributes>`) },
    ],
    ['CDATA', { body: success(`<cas:attributes><cas:cn><![CDATA[${NAME}]]></cas:cn></cas:attributes>`) }],
    ['another prefix', { body: plain.replaceAll('cas:', 'sso:').replace('xmlns:cas', 'xmlns:sso') }],
    ['the default namespace', { body: plain.replaceAll('cas:', '').replace('xmlns:cas', 'xmlns') }],
    ['no namespace', { body: plain.replace(/ xmlns:cas="[^"]*"/, '').replaceAll('cas:', '') }],
    ['a prefix that is not declared', { body: plain.replace(/ xmlns:cas="[^"]*"/, '') }],
    ['attributes without namespace', { body: success(`<cas:attributes><cn>${NAME}</cn></cas:attributes>`) }],
    ['blank lines before the declaration', { body: `\r\n\n  <?xml version="1.0" encoding="UTF-8"?>\n${plain}\n` }],
    ['a byte order mark', { body: `\uFEFF<?xml version="1.0"?>${plain}` }],
    ['a byte order mark after a blank line', { body: `\n\uFEFF${plain}` }],
    ['gb2312 in the declaration', { body: gbk(`<?xml version="1.0" encoding="gb2312"?>${plain}`) }],
    ['GBK in the declaration after a blank line', { body: gbk(`\n<?xml version='1.0' encoding='GBK' ?>${plain}`) }],
    ['GB18030 in the header', { body: gbk(plain), type: 'text/xml; charset="GB18030"' }],
    [
      'UTF-8 in the header, another in the declaration',
      { body: `<?xml version="1.0" encoding="GBK"?>${plain}`, type: 'text/xml;charset=UTF-8' },
    ],
    ['UTF-16', { body: Buffer.from(`\uFEFF${plain}`, 'utf16le') }],
    ['text/html', { body: plain, type: 'text/html; charset=utf-8' }],
    ['JSON', { body: json({ attributes: { cn: [NAME], isFromNewLogin: [true] } }), type: 'application/json' }],
    ['JSON with a number as its user', { body: json({ user: 20001, attributes: { cn: NAME } }) }],
    ['JSON with a single value', { body: `\n${json({ attributes: { cn: NAME } })}` }],
    ['JSON directly beside the user', { body: json({ cn: NAME, proxyGrantingTicket: null }) }],
  ];
  test.each(STYLES)('%s', async (_style, answer) => {
    provider.answer = () => answer;
    expect(await signedInAs()).toBe(NAME);
  });
});

describe('invalid responses of a CAS server', () => {
  const user = '<cas:user>20001</cas:user>';
  const bodies: [string, string | Buffer][] = [
    [
      'JSON of success and failure',
      '{"serviceResponse":{"authenticationSuccess":{"user":"20001"},"authenticationFailure":{}}}',
    ],
    ['JSON with two users', '{"serviceResponse":{"authenticationSuccess":{"user":["20001","20009"]}}}'],
    ['JSON without a user', '{"serviceResponse":{"authenticationSuccess":{"attributes":{"user":"20001"}}}}'],
    ['JSON of another shape', '{"user":"20001"}'],
    ['JSON of a failure', '{"serviceResponse":{"authenticationFailure":{"code":"INVALID_TICKET"}}}'],
    ['two users in lines', 'yes\n20001\n20009\n'],
    ['a missing user line', 'yes'],
    [
      'a user of a foreign namespace',
      casAnswer('<cas:authenticationSuccess><x:user xmlns:x="urn:x">20001</x:user></cas:authenticationSuccess>'),
    ],
    [
      'a user only among the attributes',
      casAnswer(
        '<cas:authenticationSuccess><cas:attributes><cas:user>20001</cas:user></cas:attributes></cas:authenticationSuccess>',
      ),
    ],
    [
      'an entity in another encoding',
      Buffer.from(`\uFEFF<!DOCTYPE x [<!ENTITY e "20001">]>${casSuccess('&e;')}`, 'utf16le'),
    ],
    [
      'a document type after blank lines',
      `\n\n<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${casSuccess('&e;')}`,
    ],
    ['another namespace', casSuccess('20001').replace('http://www.yale.edu/tp/cas', 'http://evil.example/cas')],
    ['an external entity', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${casSuccess('&e;')}`],
    ['an unknown entity', casSuccess('&admin;')],
    [
      'two users',
      casAnswer(`<cas:authenticationSuccess>${user}<cas:user>20009</cas:user></cas:authenticationSuccess>`),
    ],
    ['no user', casAnswer('<cas:authenticationSuccess></cas:authenticationSuccess>')],
    [
      'success beside failure',
      casAnswer(`<cas:authenticationFailure code="X"/><cas:authenticationSuccess>${user}</cas:authenticationSuccess>`),
    ],
    ['cut off', casSuccess('20001').slice(0, -20)],
    ['HTML', '<html>Maintenance</html>'],
    ['nothing', ''],
    ['too long', `${casSuccess('20001')}${' '.repeat(300_000)}`],
    ...['INVALID_TICKET', 'INVALID_SERVICE', 'INVALID_REQUEST', 'INTERNAL_ERROR', 'UNAUTHORIZED_SERVICE'].map(
      (code): [string, string | Buffer] => [
        code,
        casAnswer(`<cas:authenticationFailure code="${code}">no</cas:authenticationFailure>`),
      ],
    ),
  ];
  test.each(bodies)('%s: fails the sign-in and stores nothing [checked-tickets]', async (_what, body) => {
    provider.answer = () => ({ body });
    const page = await fixture.walkToConfirm(fixture.browser('20001', '20001'), await fixture.link('20001'));
    expect([page.status, page.text.includes('name="ticket"')]).toEqual([502, true]);
    expect(await links()).toEqual([]);
    expect(await server.redis.keys('{id}:pending:*')).toEqual([]);
    expect(fixture.lines.join('\n')).not.toMatch(/ST-|Maintenance|evil/);
  });

  test('another user, even if split by a comment, is another person [same-id]', async () => {
    provider.answer = () => ({ body: casSuccess('20001<!-- -->9') });
    const page = await fixture.walkToConfirm(fixture.browser('20001', '20001'), await fixture.link('20001'));
    expect(page.status).toBe(403);
    expect(await links()).toEqual([]);
  });

  test('a ticket for a service address with another state is refused by CAS [state-by-mode]', async () => {
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const away = await browser.follow(started, /\/oauth\/callback\?state/);
    const callback = new URL(String(away.headers['location']));
    callback.searchParams.set(
      'ticket',
      provider.mintCode('20001', `${fixture.url}/oauth/callback?state=${'0'.repeat(64)}`),
    );
    const next = await browser.get(callback.href);
    // The flow restarts once, as after an unusable code.
    expect(String(next.headers['location'])).toContain('/login?service=');
    expect(await links()).toEqual([]);
  });

  test('a return without its state is refused before CAS is asked [state-by-mode] [same-for-all-dialects]', async () => {
    const browser = fixture.browser('20001', '20001');
    const started = await browser.submit(await browser.get(await fixture.link('20001')));
    const away = await browser.follow(started, /\/oauth\/callback\?state/);
    const callback = new URL(String(away.headers['location']));
    callback.searchParams.delete('state');
    expect((await browser.get(callback.href)).status).toBe(400);
    expect(provider.seen.codes).toEqual([]);
  });
});
