import fc from 'fast-check';
import { flip, flips } from '../support/flip-bytes.ts';
import { CALLBACK } from './support.ts';
import { anyText } from '../support/any-text.ts';

/** A marker for secrets of people and clients. No log line and no error response may repeat it. */
export const MARK = 'zq7-private-words';

/** A nearly valid request. `{csrf}`, `{code}`, `{access}` and `{refresh}` are placeholders for valid values. */
export interface Attempt {
  surface: 'authorize' | 'login' | 'decision' | 'withdraw' | 'token' | 'profile' | 'logout' | 'callback';
  method: 'GET' | 'POST' | 'HEAD';
  path: string;
  /** Already encoded as query or form; undefined sends none. */
  fields: string | undefined;
  headers: Record<string, string>;
  /** Whether the request carries the browser's cookies. */
  keepsCookies: boolean;
}

const odd = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.constantFrom(
    '',
    MARK,
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    `${CALLBACK}@evil.example`,
    `${CALLBACK}.evil.example`,
    `${CALLBACK}#x`,
    `${CALLBACK}?next=https://evil.example`,
    'http://127.0.0.1:9',
    '\r\nLocation: https://evil.example',
    '\u0000',
    '../..',
    '__proto__',
    'x'.repeat(5_000),
  ),
);
const mostly = (...usual: string[]) =>
  fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });

type Fields = Record<string, fc.Arbitrary<string>>;

/** Fields in any order, some missing, some repeated, some nested, and sometimes with flipped bytes. */
function written(fields: Fields): fc.Arbitrary<string> {
  const name = (usual: string) =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constant(usual) },
      { weight: 1, arbitrary: fc.constantFrom(`${usual}[]`, `${usual}[a]`, usual.toUpperCase(), '__proto__') },
    );
  const pair = Object.entries(fields).map(([usual, value]) => fc.tuple(name(usual), value));
  const all = fc.tuple(...pair);
  const some = fc
    .tuple(all, fc.subarray(pair.map((_, index) => index)))
    .map(([whole, kept]) => kept.map((index) => whole[index] ?? ['', '']));
  const twice = fc.tuple(all, all).map(([first, second]) => [...first, ...second.slice(0, 1)]);
  const pairs = fc.oneof(
    { weight: 8, arbitrary: all },
    { weight: 2, arbitrary: some },
    { weight: 1, arbitrary: twice },
  ) as fc.Arbitrary<[string, string][]>;
  const text = pairs.map((list) => list.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&'));
  const flipped = fc
    .tuple(text, flips)
    .map(([whole, changes]) => changes.reduce(flip, Buffer.from(whole)).toString('latin1'));
  return fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: flipped });
}

/** Form-encodes the text, but keeps the placeholders readable. */
function encode(text: string): string {
  return /^\{\w+\}$/.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);
}

const oddHeaders = fc.record(
  {
    origin: fc.constantFrom('{origin}', 'https://evil.example', 'null', ''),
    'sec-fetch-site': fc.constantFrom('same-origin', 'cross-site', 'none', 'x'),
    'user-agent': fc.constantFrom('Mozilla/5.0', 'Mozilla/5.0 wxwork/4.1', ''),
    'accept-language': fc.oneof(fc.constantFrom('zh-CN', 'en', ';;;q=,'), fc.string({ maxLength: 20 })),
    'x-forwarded-for': fc.oneof(fc.ipV4(), fc.string({ maxLength: 40 })),
    'x-forwarded-proto': fc.constantFrom('https', 'javascript'),
    cookie: fc.constantFrom('__Host-svc-session=x', '__Host-svc-browser=%00', `__Host-svc-session=${'A'.repeat(43)}`),
    authorization: mostly(
      'Bearer {access}',
      'Basic cGFybGV5OnRoZS1zZWNyZXQ=',
      // The decoded value is not valid form encoding.
      `Basic ${Buffer.from('%E0:x').toString('base64')}`,
      'Basic',
      `Basic ${MARK}`,
    ),
  },
  { requiredKeys: [] },
);

const headers = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom({}, { origin: '{origin}', 'sec-fetch-site': 'same-origin' }) },
  { weight: 1, arbitrary: oddHeaders },
) as fc.Arbitrary<Record<string, string>>;
const profileHeaders = fc
  .tuple(headers, mostly('Bearer {access}', 'Bearer {access}', 'Bearer {refresh}', 'Bearer', `Bearer ${MARK}`))
  .map(([more, authorization]) => ({ ...more, authorization }));

const FORM_TYPE = 'application/x-www-form-urlencoded';
const formHeaders = fc
  .tuple(headers, mostly(...Array<string>(20).fill(FORM_TYPE), 'application/json', 'multipart/form-data'))
  .map(([more, type]) => ({ ...more, 'content-type': type }));

function attempt(
  surface: Attempt['surface'],
  method: Attempt['method'],
  path: string,
  fields: fc.Arbitrary<string>,
): fc.Arbitrary<Attempt> {
  return fc.record({
    surface: fc.constant(surface),
    method: method === 'POST' ? fc.constant(method) : fc.constantFrom<Attempt['method']>('GET', 'GET', 'GET', 'HEAD'),
    path: fc.constant(path),
    fields,
    headers: surface === 'profile' ? profileHeaders : method === 'POST' ? formHeaders : headers,
    keepsCookies: fc.constantFrom(true, true, true, true, false),
  });
}

const authorizeFields = written({
  response_type: mostly('code', 'code', 'code', 'code', 'token'),
  client_id: mostly('parley', 'parley', 'parley', 'parley', 'other', 'nobody'),
  redirect_uri: mostly(CALLBACK, CALLBACK, CALLBACK, 'http://127.0.0.1:9/with?x=1', 'http://127.0.0.1:9/other'),
  scope: mostly('SVC-Basic', ''),
  state: mostly('s1', MARK),
  code_challenge: mostly('x'.repeat(43)),
  code_challenge_method: mostly('S256', 'S256', 'S256', 'plain'),
});
/** The password is always wrong: no attempt may get a session. */
const loginFields = written({
  csrf: mostly(...Array<string>(9).fill('{csrf}'), 'theirs'),
  username: mostly('zhangwei', 'alice', 'nobody', MARK),
  password: mostly(MARK, ''),
});
const decisionFields = written({
  csrf: mostly(...Array<string>(9).fill('{csrf}'), 'theirs'),
  decision: mostly('allow', 'deny', 'switch'),
  remember: mostly('no'),
});
const tokenFields = written({
  grant_type: mostly('authorization_code', 'refresh_token', 'password'),
  client_id: mostly('parley', 'parley', 'parley', 'other'),
  client_secret: mostly('the-secret', 'the-secret', 'the-secret', MARK),
  redirect_uri: mostly(CALLBACK),
  code: mostly('{code}', MARK),
  refresh_token: mostly('{refresh}', MARK),
  code_verifier: mostly('', '', '', 'v'.repeat(50)),
});
const callbackFields = written({ code: mostly(MARK, 'x'), state: mostly('a'.repeat(64), '{csrf}') });

const leaveFields = written({
  return_to: mostly(
    '/account',
    `/oauth2.0/authorize?client_id=parley&redirect_uri=${CALLBACK}`,
    'https://evil.example/',
    '//evil.example/account',
    '/oauth2.0/authorize/../..//evil.example?',
  ),
  prompt: mostly('login', ''),
});

/** Nearly valid requests to all sign-in endpoints. */
export const attempts: fc.Arbitrary<Attempt> = fc.oneof(
  attempt('authorize', 'GET', '/oauth2.0/authorize', authorizeFields),
  attempt('login', 'POST', '/oauth2.0/login', loginFields),
  attempt('decision', 'POST', '/oauth2.0/decision', decisionFields),
  attempt(
    'withdraw',
    'POST',
    '/account/withdraw',
    written({ csrf: mostly(...Array<string>(9).fill('{csrf}'), 'theirs') }),
  ),
  attempt('token', 'POST', '/oauth2.0/accessToken', tokenFields),
  attempt(
    'profile',
    'GET',
    '/oauth2.0/profile',
    fc.oneof({ weight: 4, arbitrary: fc.constant('') }, written({ access_token: mostly('{access}', 'x') })),
  ),
  attempt('logout', 'GET', '/logout', written({ service: mostly(CALLBACK, 'https://evil.example/') })),
  attempt('callback', 'GET', '/sign-in/wecom/callback', callbackFields),
  attempt('callback', 'GET', '/sign-in', leaveFields),
  attempt('callback', 'GET', '/sign-in/wecom', leaveFields),
);
