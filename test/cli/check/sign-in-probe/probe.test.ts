import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import {
  BOTH_AGES_MS,
  leaksIn,
  lineIn,
  probeStandIn,
  startProbe,
  type ProbeRun,
  type RunOptions,
} from './probe-run.ts';
import { ProbeBrowser } from './probe-browser.ts';
import { CLIENT, startProbeStandIn, type Ways } from './probe-stand-in.ts';

const runs: ProbeRun[] = [];
afterEach(() => {
  // In every test: nothing secret and nothing of the person is printed or shown (SECURITY.md sign-in-probe).
  for (const run of runs.splice(0)) {
    expect(leaksIn(run)).toEqual([]);
    for (const { body } of run.browser.pages) expect(leaksIn({ ...run, text: body })).toEqual([]);
  }
});

async function probe(ways?: Ways, options?: RunOptions): Promise<ProbeRun> {
  const run = await probeStandIn(ways, options);
  runs.push(run);
  return run;
}

test('a service that keeps to the specification: each question answered, exit 0 [sign-in-probe]', async () => {
  const { line, text, exitCode } = await probe({}, { codeAgesMs: BOTH_AGES_MS });
  expect(exitCode).toBe(0);
  expect(line('State')).toBe('ok comes back as it was sent');
  expect(line('Tokens')).toMatch(/^ok 200, JSON with access_token, token_type, expires_in, refresh_token, in \d+ ms$/);
  expect(line('Token life')).toBe('ok expires_in is 7200: 2 hours as seconds');
  expect(line('Profile')).toBe('ok readable and usable, id 20•••42');
  expect(line('Profile fields')).toBe('ok all required fields are there');
  expect(line('Refresh')).toContain('no new refresh token (the first is kept); the first access token still works');
  expect(line('Second use of a code')).toContain('(invalid_grant)); the first token still works');
  expect(line('Unknown code')).toBe('ok 400, JSON with error, error_description (invalid_grant)');
  expect(line('Wrong secret')).toBe('ok 401, JSON with error, error_description (invalid_client)');
  expect(line('Unknown refresh')).toContain('(invalid_grant)');
  expect(line('Unknown token')).toContain('ok 401');
  expect(line('More parameters')).toBe('ok an unknown one and PKCE are tolerated');
  expect(line('Wrong verifier')).toMatch(/^ok refused/);
  expect(line('Verifier without challenge')).toMatch(/^ok refused/);
  expect(line('Code after 0.02 s')).toBe('ok works');
  expect(line('Code after 1.4 s')).toMatch(/^ok refused \(400/);
  expect(line('After signing out')).toBe('ok the access token still works; the refresh token still works');
  expect(text).toContain('SIGN_IN_STATE=required  # as it is set;');
  expect(text).toContain('SIGN_IN_EXPIRES_UNIT=seconds  #');
  expect(text).toContain('SIGN_IN_KEEP_TOKENS=refresh  # as it is set;');
  expect(text).not.toContain('SIGN_IN_PROOF=');
});

describe('state [state-by-mode]', () => {
  test('that never comes back is a fault while it is required, and SIGN_IN_STATE=absent is suggested', async () => {
    const { line, text, exitCode } = await probe({ state: 'missing' });
    expect(line('State')).toBe('fault does not come back → Set SIGN_IN_STATE=absent');
    expect(text).toContain('SIGN_IN_STATE=absent  # the service');
    expect(text).not.toContain('SIGN_IN_PROOF=');
    expect(line('After signing out')).toMatch(/^ok/);
    expect(exitCode).toBe(1);
  });

  test('absent, as it is set, and PKCE ignored: same-id is asked for', async () => {
    const { line, text, exitCode } = await probe(
      { state: 'missing', pkce: 'ignored' },
      { env: { SIGN_IN_STATE: 'absent' } },
    );
    expect(line('State')).toBe('ok does not come back, as set');
    expect(line('Wrong verifier')).toMatch(/^warning accepted: the service ignores PKCE → Have same-id/);
    expect(text).toContain('SIGN_IN_PROOF=same-browser,same-id  # without state');
    expect(exitCode).toBe(0);
  });

  test('absent, and PKCE that only counts where it was asked for is no protection', async () => {
    const { line, text } = await probe(
      { state: 'missing', pkce: 'only asked' },
      { env: { SIGN_IN_STATE: 'absent', SIGN_IN_PROOF: 'same-id' } },
    );
    expect(line('Wrong verifier')).toMatch(/^ok refused/);
    expect(line('Verifier without challenge')).toMatch(/^warning accepted/);
    expect(text).toContain('SIGN_IN_PROOF=same-id  # as it is set;');
  });

  test('that comes back although absent is set: the stronger setting is suggested', async () => {
    const { line } = await probe({}, { env: { SIGN_IN_STATE: 'absent' } });
    expect(line('State')).toContain('warning comes back as it was sent → Set SIGN_IN_STATE=required');
  });

  test('that comes back changed ends the probe: nothing can be built on it', async () => {
    const { line, text, exitCode } = await probe({ state: 'changed' });
    expect(line('State')).toMatch(/^fault comes back changed/);
    expect(line('Tokens')).toBeUndefined();
    expect(text).not.toContain('Settings that fit');
    expect(exitCode).toBe(1);
  });

  test('that comes back once and never again: later returns are refused, and it is a fault', async () => {
    const { text, line, exitCode } = await probe({ state: 'first time only' });
    expect(line('More parameters')).toMatch(/^fault the browser did not come back/);
    expect(text).toContain('came back in some steps only');
    expect(text).toContain('SIGN_IN_STATE=required');
    expect(exitCode).toBe(1);
  });
});

describe('tokens', () => {
  const unusable: [string, Ways['token'] & object, RegExp][] = [
    ['HTML', () => ({ status: 200, body: '<html>login</html>', type: 'text/html' }), /not a JSON object \(200, HTML\)/],
    ['a server error', () => ({ status: 500, body: '' }), /status 500 \(500, empty\) → Ask who runs/],
    [
      'form-encoded, as older services answer',
      () => ({ status: 200, body: 'access_token=AT-formformform&expires_in=7200', type: 'text/plain' }),
      /form-encoded with access_token, expires_in\) → Ask .* JSON/,
    ],
    [
      'another token type',
      () => ({ status: 200, body: '{"access_token":"AT-macmacmac","token_type":"mac"}' }),
      /bearer/,
    ],
    ['a list', () => ({ status: 200, body: '["AT-listlistlist"]' }), /JSON, but no object/],
    ['our secret refused', () => ({ status: 401, body: '{"error":"invalid_client"}' }), /invalid_client.*SECRET/],
  ];
  test.each(unusable)('%s: the probe stops there with a fault', async (_, token, expected) => {
    const { line, text, exitCode } = await probe({ token });
    expect(line('Tokens')).toMatch(expected);
    expect(line('Tokens')).toMatch(/^fault/);
    expect(text).not.toMatch(/AT-\w/);
    expect(line('More parameters')).toBeUndefined();
    expect(exitCode).toBe(1);
  });

  test('expires_in in milliseconds is seen, and a unit that is set wrong is a fault [expiry-unit]', async () => {
    const { line, text } = await probe({ expiresIn: 7_200_000 }, { env: { SIGN_IN_EXPIRES_UNIT: 'seconds' } });
    expect(line('Token life')).toMatch(
      /^fault expires_in is 7200000: 2 hours as milliseconds → Set SIGN_IN_EXPIRES_UNIT=/,
    );
    expect(text).toContain('SIGN_IN_EXPIRES_UNIT=milliseconds');
  });

  test('a refresh token that is not given, or gives nothing: SIGN_IN_KEEP_TOKENS=none', async () => {
    const none = await probe({ refresh: 'none' });
    expect(none.line('Refresh')).toMatch(/^warning no refresh token is given/);
    expect(none.line('After signing out')).toBe('ok the access token still works');
    expect(none.text).toContain('SIGN_IN_KEEP_TOKENS=none');
    const refused = await probe({ refresh: 'refused' });
    expect(refused.line('Refresh')).toMatch(/^warning a refresh token is given, but: .*status 400/);
    expect(refused.text).toContain('SIGN_IN_KEEP_TOKENS=none');
  });

  test('a refresh that gives a new refresh token is told', async () => {
    expect((await probe({ refresh: 'new' })).line('Refresh')).toContain('an access token and a new refresh token');
  });

  test('signing out that kills the tokens is told, and nothing is worth keeping then', async () => {
    const { line, text } = await probe({ logoutRevokes: true, logoutReturns: false });
    expect(line('After signing out')).toMatch(/^warning the access token is dead; the refresh token is dead/);
    expect(text).toContain('SIGN_IN_KEEP_TOKENS=none  # refresh tokens die');
  });
});

describe('codes', () => {
  test('a code that is accepted twice is a warning', async () => {
    const { line } = await probe({ isCodeReusable: true });
    expect(line('Second use of a code')).toMatch(/^warning accepted; the first token still works/);
  });

  test('a second use that kills the first token is told', async () => {
    const { line } = await probe({ secondUseRevokes: true });
    expect(line('Second use of a code')).toMatch(/^ok refused .*; it kills the first token$/);
  });

  test('a code that lives 60 s is a warning', async () => {
    const { line } = await probe({ codeLifeMs: 60_000 }, { codeAgesMs: BOTH_AGES_MS });
    expect(line('Code after 1.4 s')).toMatch(/^warning works, though/);
  });

  test('a code that dies too early is a warning', async () => {
    const { line } = await probe({ codeLifeMs: 500 }, { codeAgesMs: [900] });
    expect(line('Code after 0.9 s')).toMatch(/^warning refused already/);
  });
});

describe('refusals and authorize', () => {
  test('errors as HTML with 500: shapes are told, and none is taken for a clear refusal', async () => {
    const { line } = await probe({ refusals: 'html' }, { codeAgesMs: BOTH_AGES_MS });
    expect(line('Unknown code')).toMatch(/^warning 500, HTML →/);
    expect(line('Unknown refresh')).toMatch(/^warning 500, HTML →/);
    expect(line('Wrong verifier')).toMatch(/no clear refusal \(500, HTML\)/);
    expect(line('Verifier without challenge')).toBeUndefined();
    expect(line('Code after 1.4 s')).toMatch(/^warning no clear refusal/);
  });

  test('error codes of its own are not repeated', async () => {
    const { line, text } = await probe({ refusals: 'own codes' });
    expect(line('Unknown refresh')).toMatch(/^warning 400, JSON with error, trace \(an error code of its own\)/);
    expect(text).not.toContain('E-40013');
  });

  test('an error in a 200', async () => {
    const { line } = await probe({ refusals: 'ok with an error' });
    expect(line('Unknown code')).toMatch(/^warning 200, JSON with error \(invalid_grant\)/);
    expect(line('Second use of a code')).toMatch(/^ok refused/);
  });

  test('an error page for parameters that it does not know: the administrator goes on, and PKCE is not tried', async () => {
    const { line, exitCode } = await probe({ strangeParameters: 'page' }, { codeAgesMs: [20] });
    expect(line('More parameters')).toMatch(/^fault the browser did not come back/);
    expect(line('Wrong verifier')).toBeUndefined();
    expect(line('Code after 0.02 s')).toBe('ok works');
    expect(exitCode).toBe(1);
  });

  test('an error that comes back for them', async () => {
    const { line } = await probe({ strangeParameters: 'error' });
    expect(line('More parameters')).toMatch(
      /^fault the sign-in service sent the browser back with an error \(invalid_request\)/,
    );
  });
});

describe('profile', () => {
  const unfit: [string, Record<string, unknown>, RegExp, RegExp][] = [
    ['of another client', { client_id: 'another' }, /^fault .*of another client/, /^ok/],
    ['not active', { active: false }, /^fault .*not active/, /^ok/],
    ['without an id', { id: undefined }, /^fault .*no usable id/, /^fault id is missing/],
    ['with an id that is a number', { id: 20210042 }, /^ok/, /^warning id is of type number/],
    ['active as a text', { active: 'true' }, /^fault/, /^fault active is of type string/],
    ['without attributes', { attributes: null }, /^ok/, /^warning attributes is missing →/],
    ['with half of them', { attributes: { XM: '' } }, /^ok/, /^warning attributes.BMBM is missing; .*XM is empty/],
  ];
  test.each(unfit)('%s', async (_, profile, usable, fields) => {
    const { line } = await probe({ profile });
    expect(line('Profile')).toMatch(usable);
    expect(line('Profile fields')).toMatch(fields);
  });

  test('--person is compared by the declared rule', async () => {
    const same = await probe({}, { person: '20210042' });
    expect(same.line('Same id')).toBe("ok 20•••42 is this profile's, by field=id;prefix=;case=exact");
    const other = await probe({}, { person: 'zhangwei', env: { SIGN_IN_PROOF: 'same-id' } });
    expect(other.line('Same id')).toMatch(/^fault zh•••ei is not this profile's \(id 20•••42\)/);
    expect(other.text).not.toContain('zhangwei');
    expect(other.exitCode).toBe(1);
  });
});

describe('who may take part', () => {
  test('the first browser that begins is the only one; a return without its cookie changes nothing', async () => {
    const service = await startProbeStandIn();
    const end = new AbortController();
    const { ended, link, output } = await startProbe(service.url, { signal: end.signal });
    const address = await link;
    const [admin, stranger] = [new ProbeBrowser(), new ProbeBrowser()];
    expect((await stranger.send(address)).statusCode).toBe(200);
    const foreign = await stranger.send(`${address}/start`, { form: {}, from: 'https://elsewhere.test/' });
    expect(foreign.statusCode).toBe(403);
    expect((await admin.send(`${address}/start`, { form: {}, from: address })).statusCode).toBe(200);
    expect((await stranger.send(`${address}/start`, { form: {}, from: address })).statusCode).toBe(403);
    expect((await stranger.send(address)).statusCode).toBe(403);
    expect((await stranger.send(`${address}/go`)).statusCode).toBe(403);
    expect((await stranger.send(`${address}/skip`, { form: {}, from: address })).statusCode).toBe(403);

    const authorize = (await admin.send(`${address}/go`)).headers.location ?? '';
    const back = (await admin.send(authorize)).headers.location ?? '';
    expect((await stranger.send(back)).statusCode).toBe(400);
    expect((await admin.send(back.replace('code=', 'code=a&code='))).statusCode).toBe(400);
    expect((await admin.send(`${new URL(address).origin}/webhooks/wecom`)).statusCode).toBe(503);
    expect(lineIn(output(), 'State')).toBeUndefined();
    expect((await admin.send(back)).statusCode).toBe(303);
    expect((await admin.send(back)).statusCode).toBe(400);

    end.abort();
    expect(await ended).toBe(1);
    expect(lineIn(output(), 'Probe')).toMatch(/^fault ended at step \d of 5; the rest was not tried/);
    await service.close();
  });

  test('pages carry the headers of  and are Chinese for who reads Chinese [page-headers]', async () => {
    const { browser } = await probe({}, { browserOf: { language: 'zh-CN' } });
    expect(browser.titles).toEqual(expect.arrayContaining(['检测登录服务', '第 2 步，共 5 步', '现在退出登录']));
    for (const { headers, body } of browser.pages.filter(({ statusCode }) => statusCode === 200)) {
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toContain('lang="zh-CN"');
    }
  });

  test('a port that is taken: one sentence, exit 1', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    const { ended, output } = await startProbe('http://127.0.0.1:9', { port });
    expect(await ended).toBe(1);
    expect(output()).toMatch(/^fault {4}Port +\d+ is taken → Stop Parley/);
    taken.close();
  });

  test('nobody comes: it ends by itself, with exit 1', async () => {
    const { ended, output } = await startProbe('http://127.0.0.1:9', { limitMs: 50 });
    expect(await ended).toBe(1);
    expect(lineIn(output(), 'Probe')).toMatch(/ended at step 1 of 5/);
    expect(output()).not.toContain(CLIENT.secret);
  });

  test('a service that is not there is told as such', async () => {
    const service = await startProbeStandIn();
    const { ended, link, output } = await startProbe(service.url);
    const [admin, address] = [new ProbeBrowser(), await link];
    await admin.send(`${address}/start`, { form: {}, from: address });
    const back = (await admin.send((await admin.send(`${address}/go`)).headers.location ?? '')).headers.location ?? '';
    await service.close();
    await admin.send(back);
    expect(await ended).toBe(1);
    expect(lineIn(output(), 'Tokens')).toMatch(/^fault .*no answer \(ECONN\w+\) → See that this machine reaches/);
  });
});
