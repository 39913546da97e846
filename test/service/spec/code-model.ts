import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import {
  authorizePath,
  Browser,
  CALLBACK,
  exchange,
  getProfile,
  type JsonAnswer,
  type TestService,
} from '../support.ts';

const CODE_LIFE_MS = 10_000;
const ACCESS_LIFE_MS = 60_000;
const REFRESH_LIFE_MS = 180_000;
/** Short lifetimes, so that a run of commands reaches their end. */
export const LIVES = { accessTokenSec: ACCESS_LIFE_MS / 1_000, refreshTokenSec: REFRESH_LIFE_MS / 1_000 };

const VERIFIER = 'the-right-verifier-'.padEnd(50, 'v');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const STRANGER = { client_id: 'other', client_secret: 'other-secret' };

/** The state of a code in the model. */
interface ModelCode {
  state: 'issued' | 'used' | 'refused' | 'withdrawn';
  issuedAtMs: number;
  usesPkce: boolean;
  hasLiveGrant: boolean;
}

interface ModelToken {
  /** Index of the code from which the token came. */
  code: number;
  kind: 'access' | 'refresh';
  endsAtMs: number;
}

export interface CodeModel {
  nowMs: number;
  isSignedIn: boolean;
  codes: ModelCode[];
  tokens: ModelToken[];
}

/** The service and the values that it issued, in the model's order. */
export interface CodeReal {
  service: TestService;
  browser: Browser;
  codes: string[];
  tokens: string[];
}

type Command = fc.AsyncCommand<CodeModel, CodeReal>;

export function emptyModel(service: TestService): { model: CodeModel; real: CodeReal } {
  const model = { nowMs: service.clock.ms, isSignedIn: false, codes: [], tokens: [] };
  return { model, real: { service, browser: new Browser(service.url), codes: [], tokens: [] } };
}

function lives(model: CodeModel, token: ModelToken): boolean {
  return model.nowMs < token.endsAtMs && model.codes[token.code]?.hasLiveGrant === true;
}

/** (none) → code issued. */
class Issue implements Command {
  readonly #usesPkce: boolean;
  constructor(usesPkce: boolean) {
    this.#usesPkce = usesPkce;
  }
  check = () => true;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    const pkce: Record<string, string> = this.#usesPkce
      ? { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
      : {};
    let page = await real.browser.get(authorizePath(pkce));
    expect(page.body.includes('name="password"')).toBe(!model.isSignedIn);
    if (!model.isSignedIn)
      page = await real.browser.follow(
        await real.browser.submit(page, { username: 'zhangwei', password: 'zhangwei-pass' }),
      );
    const back = await real.browser.submit(page, { decision: 'allow' });
    real.codes.push(new URL(back.headers.location ?? 'missing:').searchParams.get('code') ?? '');
    model.isSignedIn = true;
    model.codes.push({ state: 'issued', issuedAtMs: model.nowMs, usesPkce: this.#usesPkce, hasLiveGrant: false });
  }
  toString = () => `issue${this.#usesPkce ? ' with PKCE' : ''}`;
}

type Mistake = 'none' | 'client' | 'secret' | 'redirect' | 'verifier';

/** The expected result of one exchange; updates the model. */
function moveCode(model: CodeModel, code: ModelCode, mistake: Mistake): number | 'given' {
  if (mistake === 'secret') return 401;
  if (mistake === 'client' || code.state === 'withdrawn') return 400;
  if (code.state === 'used') {
    code.hasLiveGrant = false;
    return 400;
  }
  if (code.state === 'refused' || model.nowMs - code.issuedAtMs >= CODE_LIFE_MS) return 400;
  code.state = mistake === 'none' ? 'used' : 'refused';
  code.hasLiveGrant = mistake === 'none';
  return mistake === 'none' ? 'given' : 400;
}

function send(real: CodeReal, index: number, usesPkce: boolean, mistake: Mistake): Promise<JsonAnswer> {
  const verifier = mistake === 'verifier' ? 'w'.repeat(50) : usesPkce ? VERIFIER : undefined;
  return exchange(real.service, real.codes[index] ?? '', {
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
    ...(mistake === 'client' ? STRANGER : {}),
    ...(mistake === 'secret' ? { client_secret: 'wrong' } : {}),
    ...(mistake === 'redirect' ? { redirect_uri: `${CALLBACK}/` } : {}),
  });
}

/** Expects tokens, and stores them in the model and for the service. */
function keepTokens(model: CodeModel, real: CodeReal, code: number, { body }: JsonAnswer): void {
  expect(body).toMatchObject({ token_type: 'bearer', expires_in: LIVES.accessTokenSec });
  model.tokens.push({ code, kind: 'access', endsAtMs: model.nowMs + ACCESS_LIFE_MS });
  real.tokens.push(String(body.access_token));
  const refreshToken = body['refresh_token'];
  if (typeof refreshToken !== 'string') return;
  model.tokens.push({ code, kind: 'refresh', endsAtMs: model.nowMs + REFRESH_LIFE_MS });
  real.tokens.push(refreshToken);
}

/** One or more concurrent exchanges of one code: at most one succeeds, and the others then revoke it. */
class Exchange implements Command {
  readonly #which: number;
  readonly #mistake: Mistake;
  readonly #times: number;
  constructor(which: number, mistake: Mistake, times: number) {
    this.#which = which;
    this.#mistake = mistake;
    this.#times = times;
  }
  check = ({ codes }: Readonly<CodeModel>) => codes.length > 0;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    // Mostly the newest code, sometimes another one.
    const index = model.codes.length - 1 - (this.#which % model.codes.length);
    const code = model.codes[index]!;
    const answers = await Promise.all(
      Array.from({ length: this.#times }, () => send(real, index, code.usesPkce, this.#mistake)),
    );
    const expected = answers.map(() => moveCode(model, code, this.#mistake));
    expect(answers.map(({ status }) => status).sort()).toEqual(
      expected.map((outcome) => (outcome === 'given' ? 200 : outcome)).sort(),
    );
    for (const { status, body } of answers) if (status === 400) expect(body.error).toBe('invalid_grant');
    const won = answers.find(({ status }) => status === 200);
    if (won) keepTokens(model, real, index, won);
    await checkTokens(model, real);
  }
  toString = () => `exchange(${this.#which}, mistake: ${this.#mistake}, at once: ${this.#times})`;
}

class Refresh implements Command {
  readonly #which: number;
  readonly #isStranger: boolean;
  constructor(which: number, isStranger: boolean) {
    this.#which = which;
    this.#isStranger = isStranger;
  }
  check = ({ tokens }: Readonly<CodeModel>) => tokens.length > 0;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    const index = this.#which % model.tokens.length;
    const token = model.tokens[index]!;
    const answer = await exchange(real.service, '', {
      grant_type: 'refresh_token',
      refresh_token: real.tokens[index] ?? '',
      ...(this.#isStranger ? STRANGER : {}),
    });
    const mayBe = token.kind === 'refresh' && lives(model, token) && !this.#isStranger;
    expect([answer.status, answer.body['error']]).toEqual(mayBe ? [200, undefined] : [400, 'invalid_grant']);
    if (!mayBe) return;
    expect(answer.body).toMatchObject({ scope: 'SVC-Basic' });
    expect(answer.body).not.toHaveProperty('refresh_token');
    keepTokens(model, real, token.code, answer);
  }
  toString = () => `refresh(${this.#which}${this.#isStranger ? ' by another client' : ''})`;
}

class Wait implements Command {
  readonly #ms: number;
  constructor(ms: number) {
    this.#ms = ms;
  }
  check = () => true;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    model.nowMs += this.#ms;
    real.service.clock.ms = model.nowMs;
    await checkTokens(model, real);
  }
  toString = () => `wait(${this.#ms} ms)`;
}

/** Ends every code and token of this person and client. */
class Withdraw implements Command {
  check = ({ isSignedIn, codes }: Readonly<CodeModel>) => isSignedIn && codes.length > 0;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    const account = await real.browser.get('/account');
    if (model.codes.every(({ state }) => state === 'withdrawn')) {
      expect(account.body).not.toContain('/account/withdraw');
      return;
    }
    expect((await real.browser.submit(account, {})).statusCode).toBe(303);
    for (const code of model.codes) Object.assign(code, { state: 'withdrawn', hasLiveGrant: false });
    await checkTokens(model, real);
  }
  toString = () => 'withdraw consent';
}

/** Ends the session and nothing else. */
class Logout implements Command {
  check = () => true;
  async run(model: CodeModel, real: CodeReal): Promise<void> {
    expect((await real.browser.get('/logout')).statusCode).toBe(200);
    model.isSignedIn = false;
    await checkTokens(model, real);
  }
  toString = () => 'logout';
}

/** Checks that exactly the access tokens which are valid in the model can read the profile. */
async function checkTokens(model: CodeModel, real: CodeReal): Promise<void> {
  const statuses = await Promise.all(real.tokens.map(async (token) => (await getProfile(real.service, token)).status));
  expect(statuses).toEqual(model.tokens.map((token) => (token.kind === 'access' && lives(model, token) ? 200 : 401)));
}

const issues = fc.boolean().map((usesPkce) => new Issue(usesPkce));
const rightExchanges = fc.constant(new Exchange(0, 'none', 1));
const anyExchanges = fc
  .tuple(
    fc.constantFrom(0, 0, 1, 2),
    fc.constantFrom<Mistake>('none', 'client', 'secret', 'redirect', 'verifier'),
    fc.constantFrom(1, 1, 2, 8),
  )
  .map(([which, mistake, times]) => new Exchange(which, mistake, times));
const refreshes = fc
  .tuple(fc.nat(20), fc.constantFrom(false, true))
  .map(([which, isStranger]) => new Refresh(which, isStranger));
const waits = fc
  .constantFrom(1, 4_000, CODE_LIFE_MS - 1, CODE_LIFE_MS, CODE_LIFE_MS + 1, ACCESS_LIFE_MS, REFRESH_LIFE_MS)
  .map((ms) => new Wait(ms));
const ends = fc.boolean().map((isLogout) => (isLogout ? new Logout() : new Withdraw()));

/**
 * Commands for all transitions of codes and tokens. Repetition in the list sets their frequency, so that most codes
 * progress.
 */
export const codeCommands = fc.commands(
  [issues, issues, rightExchanges, rightExchanges, anyExchanges, anyExchanges, refreshes, refreshes, waits, ends],
  { maxCommands: 30, size: 'max' },
);
