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
  // In every test: no secret and no personal data is printed or shown (SECURITY.md sign-in-probe).
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

test('the probe answers each question about a service that follows the specification, with exit 0 [sign-in-probe]', async () => {
  const { line, text, exitCode } = await probe({}, { codeAgesMs: BOTH_AGES_MS });
  expect(exitCode).toBe(0);
  expect(line('State')).toBe('ok is returned unchanged');
  expect(line('Tokens')).toMatch(/^ok 200, JSON with access_token, token_type, expires_in, refresh_token, in \d+ ms$/);
  expect(line('Token lifetime')).toBe('ok expires_in is 7200: 2 hours as seconds');
  expect(line('Profile')).toBe('ok readable and usable, id 20•••42');
  expect(line('Profile fields')).toBe('ok all required fields are present');
  expect(line('Refresh')).toContain('no new refresh token (the first stays valid); the first access token still works');
  expect(line('Second use of a code')).toContain('(invalid_grant)); the first token still works');
  expect(line('Unknown code')).toBe('ok 400, JSON with error, error_description (invalid_grant)');
  expect(line('Wrong secret')).toBe('ok 401, JSON with error, error_description (invalid_client)');
  expect(line('Unknown refresh')).toContain('(invalid_grant)');
  expect(line('Unknown token')).toContain('ok 401');
  expect(line('Additional parameters')).toBe('ok an unknown parameter and PKCE are accepted');
  expect(line('Wrong verifier')).toMatch(/^ok refused/);
  expect(line('Verifier without challenge')).toMatch(/^ok refused/);
  expect(line('Code after 0.02 s')).toBe('ok works');
  expect(line('Code after 1.4 s')).toMatch(/^ok refused \(400/);
  expect(line('After signing out')).toBe('ok the access token still works; the refresh token still works');
  expect(text).toContain('SIGN_IN_STATE=required  # already set;');
  expect(text).toContain('SIGN_IN_EXPIRES_UNIT=seconds  #');
  expect(text).toContain('SIGN_IN_KEEP_TOKENS=refresh  # already set;');
  expect(text).not.toContain('SIGN_IN_PROOF=');
});

describe('the probe of state [state-by-mode]', () => {
  test('reports a missing state as a fault while it is required, and suggests SIGN_IN_STATE=absent', async () => {
    const { line, text, exitCode } = await probe({ state: 'missing' });
    expect(line('State')).toBe('fault is not returned → Set SIGN_IN_STATE=absent');
    expect(text).toContain('SIGN_IN_STATE=absent  # the service');
    expect(text).not.toContain('SIGN_IN_PROOF=');
    expect(line('After signing out')).toMatch(/^ok/);
    expect(exitCode).toBe(1);
  });

  test('requires same-id if state is absent by the settings and PKCE is ignored', async () => {
    const { line, text, exitCode } = await probe(
      { state: 'missing', pkce: 'ignored' },
      { env: { SIGN_IN_STATE: 'absent' } },
    );
    expect(line('State')).toBe('ok is not returned, as configured');
    expect(line('Wrong verifier')).toMatch(/^warning accepted: the service ignores PKCE → Include same-id/);
    expect(text).toContain('SIGN_IN_PROOF=same-browser,same-id  # without state');
    expect(exitCode).toBe(0);
  });

  test('does not count PKCE as protection if it applies only when requested and state is absent', async () => {
    const { line, text } = await probe(
      { state: 'missing', pkce: 'only asked' },
      { env: { SIGN_IN_STATE: 'absent', SIGN_IN_PROOF: 'same-id' } },
    );
    expect(line('Wrong verifier')).toMatch(/^ok refused/);
    expect(line('Verifier without challenge')).toMatch(/^warning accepted/);
    expect(text).toContain('SIGN_IN_PROOF=same-id  # already set;');
  });

  test('suggests the stronger setting if state is returned although absent is set', async () => {
    const { line } = await probe({}, { env: { SIGN_IN_STATE: 'absent' } });
    expect(line('State')).toContain('warning is returned unchanged → Set SIGN_IN_STATE=required');
  });

  test('ends if state is returned with another value, since no sign-in can rely on it', async () => {
    const { line, text, exitCode } = await probe({ state: 'changed' });
    expect(line('State')).toMatch(/^fault is returned changed/);
    expect(line('Tokens')).toBeUndefined();
    expect(text).not.toContain('Suggested settings');
    expect(exitCode).toBe(1);
  });

  test('refuses later returns and reports a fault if state is returned only once', async () => {
    const { text, line, exitCode } = await probe({ state: 'first time only' });
    expect(line('Additional parameters')).toMatch(/^fault the browser did not return/);
    expect(text).toContain('was returned in some steps only');
    expect(text).toContain('SIGN_IN_STATE=required');
    expect(exitCode).toBe(1);
  });
});

describe('the probe of tokens', () => {
  const unusable: [string, Ways['token'] & object, RegExp][] = [
    ['HTML', () => ({ status: 200, body: '<html>login</html>', type: 'text/html' }), /not a JSON object \(200, HTML\)/],
    ['a server error', () => ({ status: 500, body: '' }), /status 500 \(500, empty\) → Contact the operator/],
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
    ['a list', () => ({ status: 200, body: '["AT-listlistlist"]' }), /JSON, but not an object/],
    ['a refused client secret', () => ({ status: 401, body: '{"error":"invalid_client"}' }), /invalid_client.*SECRET/],
  ];
  test.each(unusable)('stops with a fault at %s', async (_, token, expected) => {
    const { line, text, exitCode } = await probe({ token });
    expect(line('Tokens')).toMatch(expected);
    expect(line('Tokens')).toMatch(/^fault/);
    expect(text).not.toMatch(/AT-\w/);
    expect(line('Additional parameters')).toBeUndefined();
    expect(exitCode).toBe(1);
  });

  test('detects expires_in in milliseconds, and reports a wrong unit setting as a fault [expiry-unit]', async () => {
    const { line, text } = await probe({ expiresIn: 7_200_000 }, { env: { SIGN_IN_EXPIRES_UNIT: 'seconds' } });
    expect(line('Token lifetime')).toMatch(
      /^fault expires_in is 7200000: 2 hours as milliseconds → Set SIGN_IN_EXPIRES_UNIT=/,
    );
    expect(text).toContain('SIGN_IN_EXPIRES_UNIT=milliseconds');
  });

  test('suggests SIGN_IN_KEEP_TOKENS=none if a refresh token is missing or has no effect', async () => {
    const none = await probe({ refresh: 'none' });
    expect(none.line('Refresh')).toMatch(/^warning no refresh token was issued/);
    expect(none.line('After signing out')).toBe('ok the access token still works');
    expect(none.text).toContain('SIGN_IN_KEEP_TOKENS=none');
    const refused = await probe({ refresh: 'refused' });
    expect(refused.line('Refresh')).toMatch(/^warning a refresh token was issued, but: .*status 400/);
    expect(refused.text).toContain('SIGN_IN_KEEP_TOKENS=none');
  });

  test('reports a refresh that returns a new refresh token', async () => {
    expect((await probe({ refresh: 'new' })).line('Refresh')).toContain('an access token and a new refresh token');
  });

  test('reports that signing out revokes the tokens, which makes keeping them useless', async () => {
    const { line, text } = await probe({ logoutRevokes: true, logoutReturns: false });
    expect(line('After signing out')).toMatch(/^warning the access token is invalid; the refresh token is invalid/);
    expect(text).toContain('SIGN_IN_KEEP_TOKENS=none  # refresh tokens become invalid');
  });
});

describe('the probe of codes', () => {
  test('warns about a code that is accepted twice', async () => {
    const { line } = await probe({ isCodeReusable: true });
    expect(line('Second use of a code')).toMatch(/^warning accepted; the first token still works/);
  });

  test('reports that a second use revokes the first token', async () => {
    const { line } = await probe({ secondUseRevokes: true });
    expect(line('Second use of a code')).toMatch(/^ok refused .*; it revokes the first token$/);
  });

  test('warns about a code that lives 60 s', async () => {
    const { line } = await probe({ codeLifeMs: 60_000 }, { codeAgesMs: BOTH_AGES_MS });
    expect(line('Code after 1.4 s')).toMatch(/^warning works, though/);
  });

  test('warns about a code that expires too early', async () => {
    const { line } = await probe({ codeLifeMs: 500 }, { codeAgesMs: [900] });
    expect(line('Code after 0.9 s')).toMatch(/^warning already refused/);
  });
});

describe('the probe of refusals and authorize', () => {
  test('reports the shape of HTML errors with 500, and counts none as a clear refusal', async () => {
    const { line } = await probe({ refusals: 'html' }, { codeAgesMs: BOTH_AGES_MS });
    expect(line('Unknown code')).toMatch(/^warning 500, HTML →/);
    expect(line('Unknown refresh')).toMatch(/^warning 500, HTML →/);
    expect(line('Wrong verifier')).toMatch(/not clearly refused \(500, HTML\)/);
    expect(line('Verifier without challenge')).toBeUndefined();
    expect(line('Code after 1.4 s')).toMatch(/^warning no clear refusal/);
  });

  test('does not repeat service-specific error codes', async () => {
    const { line, text } = await probe({ refusals: 'own codes' });
    expect(line('Unknown refresh')).toMatch(/^warning 400, JSON with error, trace \(a non-standard error code\)/);
    expect(text).not.toContain('E-40013');
  });

  test('reports an error in a response with status 200', async () => {
    const { line } = await probe({ refusals: 'ok with an error' });
    expect(line('Unknown code')).toMatch(/^warning 200, JSON with error \(invalid_grant\)/);
    expect(line('Second use of a code')).toMatch(/^ok refused/);
  });

  test('continues after an error page for unknown parameters, without testing PKCE', async () => {
    const { line, exitCode } = await probe({ strangeParameters: 'page' }, { codeAgesMs: [20] });
    expect(line('Additional parameters')).toMatch(/^fault the browser did not return/);
    expect(line('Wrong verifier')).toBeUndefined();
    expect(line('Code after 0.02 s')).toBe('ok works');
    expect(exitCode).toBe(1);
  });

  test('reports an error redirect for unknown parameters', async () => {
    const { line } = await probe({ strangeParameters: 'error' });
    expect(line('Additional parameters')).toMatch(
      /^fault the sign-in service returned the browser with an error \(invalid_request\)/,
    );
  });
});

describe('the probe of the profile', () => {
  const unfit: [string, Record<string, unknown>, RegExp, RegExp][] = [
    ['of another client', { client_id: 'another' }, /^fault .*of another client/, /^ok/],
    ['not active', { active: false }, /^fault .*not active/, /^ok/],
    ['without an id', { id: undefined }, /^fault .*no usable id/, /^fault id is missing/],
    ['with an id that is a number', { id: 20210042 }, /^ok/, /^warning id is of type number/],
    ['active as a text', { active: 'true' }, /^fault/, /^fault active is of type string/],
    ['without attributes', { attributes: null }, /^ok/, /^warning attributes is missing →/],
    ['with half of them', { attributes: { XM: '' } }, /^ok/, /^warning attributes.BMBM is missing; .*XM is empty/],
  ];
  test.each(unfit)('judges one %s', async (_, profile, usable, fields) => {
    const { line } = await probe({ profile });
    expect(line('Profile')).toMatch(usable);
    expect(line('Profile fields')).toMatch(fields);
  });

  test('compares --person by the configured rule', async () => {
    const same = await probe({}, { person: '20210042' });
    expect(same.line('Same id')).toBe('ok 20•••42 matches this profile by field=id;prefix=;case=exact');
    const other = await probe({}, { person: 'zhangwei', env: { SIGN_IN_PROOF: 'same-id' } });
    expect(other.line('Same id')).toMatch(/^fault zh•••ei does not match this profile \(id 20•••42\)/);
    expect(other.text).not.toContain('zhangwei');
    expect(other.exitCode).toBe(1);
  });
});

describe('access to the pages of the probe', () => {
  test('is limited to the first browser that begins, and a return without its cookie changes nothing', async () => {
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
    expect(lineIn(output(), 'Probe')).toMatch(/^fault ended at step \d of 5; the remaining steps were not run/);
    await service.close();
  });

  test('gives pages with security headers, in Chinese for a Chinese browser [page-headers]', async () => {
    const { browser } = await probe({}, { browserOf: { language: 'zh-CN' } });
    expect(browser.titles).toEqual(expect.arrayContaining(['检测登录服务', '第 2 步，共 5 步', '请退出登录']));
    for (const { headers, body } of browser.pages.filter(({ statusCode }) => statusCode === 200)) {
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toContain('lang="zh-CN"');
    }
  });

  test('fails with one sentence and exit 1 if a port is taken', async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    const { ended, output } = await startProbe('http://127.0.0.1:9', { port });
    expect(await ended).toBe(1);
    expect(output()).toMatch(/^fault {4}Port +\d+ is in use → Stop Parley/);
    taken.close();
  });

  test('ends with exit 1 if no browser comes', async () => {
    const { ended, output } = await startProbe('http://127.0.0.1:9', { limitMs: 50 });
    expect(await ended).toBe(1);
    expect(lineIn(output(), 'Probe')).toMatch(/ended at step 1 of 5/);
    expect(output()).not.toContain(CLIENT.secret);
  });

  test('the probe reports an unavailable service as such', async () => {
    const service = await startProbeStandIn();
    const { ended, link, output } = await startProbe(service.url);
    const [admin, address] = [new ProbeBrowser(), await link];
    await admin.send(`${address}/start`, { form: {}, from: address });
    const back = (await admin.send((await admin.send(`${address}/go`)).headers.location ?? '')).headers.location ?? '';
    await service.close();
    await admin.send(back);
    expect(await ended).toBe(1);
    expect(lineIn(output(), 'Tokens')).toMatch(/^fault .*no answer \(ECONN\w+\) → Check that this machine can reach/);
  });
});
