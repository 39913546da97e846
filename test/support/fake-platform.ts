import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '../../src/shared/clock.ts';
import { PlatformError } from '../../src/bot/platforms/platform-error.ts';
import type { Delivery, Platform, WebSignIn } from '../../src/bot/platforms/platform.ts';
import type { PlatformName } from '../../src/bot/domain/platform-name.ts';
import { registerSecret } from './evidence/evidence.ts';

/** The origin of the fake platform's web sign-in; a test's browser recognises it and calls `codeFor`. */
export const FAKE_PLATFORM_ORIGIN = 'https://open.platform.test';

export interface FakePlatformOptions {
  name?: PlatformName;
  tenant?: string;
  app?: string;
  /** Encrypted chat user ids with their plain ids; undefined if they cannot be converted. */
  encryptedIds?: Readonly<Record<string, string | undefined>>;
  hasWebSignIn?: boolean;
  /** Whether the web sign-in works only in the app's own browser. */
  needsAppBrowser?: boolean;
  /** The display names of people. Defaults to no such call. */
  displayNameOf?: Platform['displayNameOf'];
}

/** A messaging app in memory: single-use sign-in codes, converted ids, sent texts. */
export interface FakePlatform extends Platform {
  /** The code that the platform's web sign-in gives to the browser of this member. */
  codeFor(plainUserId: string): string;
  /** Texts sent to people, oldest first. */
  readonly written: { userId: string; text: string }[];
}

export function createFakePlatform(options: FakePlatformOptions = {}): FakePlatform {
  const {
    name = 'wecom',
    tenant = 'corp',
    app = 'bot',
    encryptedIds = {},
    hasWebSignIn = true,
    needsAppBrowser = false,
  } = options;
  const codes = new Map<string, string>();
  const written: FakePlatform['written'] = [];
  return {
    name,
    tenant,
    app,
    written,
    responseDeadlineMs: 3_000,
    replyTraits: {
      delivery: 'pull',
      liveLifetimeMs: 6 * MINUTE_MS,
      laterReplyLifetimeMs: 60 * MINUTE_MS,
      laterReplyUses: 'one',
      handoverMarginMs: MINUTE_MS / 2,
      maxBytes: 20_480,
      minEditGapMs: 0,
      thinking: 'block',
      reconcile: 'once',
      lookUpAfterMs: 0,
      postSettlesWithinMs: 0,
      refusalsPassWithinMs: 0,
      deliveredWithinMs: 0,
    },
    verifyHeaders: () => (): Delivery => ({ kind: 'ignored', reason: 'a fake', answer: { status: 200, body: '' } }),
    renderReply: ({ text }) => text,
    splitReply: (text) => [text],
    splitAnswer: (text) => Promise.resolve([text]),
    writePrivately(userId, text) {
      written.push({ userId, text });
      return Promise.resolve('sent');
    },
    fetchMedia: () => Promise.reject(new PlatformError('media_gone', 'a fake has no media')),
    plainUserId: (userId) => Promise.resolve(userId in encryptedIds ? encryptedIds[userId] : userId),
    ...(options.displayNameOf ? { displayNameOf: options.displayNameOf } : {}),
    ...(hasWebSignIn ? { webSignIn: { ...webSignIn(codes, tenant), needsAppBrowser } } : {}),
    isAppBrowser: (userAgent) => userAgent.includes('wxwork/'),
    backToChat: (userAgent) =>
      userAgent.includes('wxwork/') ? { kind: 'close-window', platform: 'wecom' } : undefined,
    check: () => Promise.resolve([]),
    codeFor(plainUserId) {
      const code = randomBytes(16).toString('hex');
      registerSecret('code', code);
      codes.set(code, plainUserId);
      return code;
    },
  };
}

function webSignIn(codes: Map<string, string>, tenant: string): WebSignIn {
  return {
    needsAppBrowser: false,
    startAuthorization({ redirectUri, state }) {
      if (!/^[A-Za-z0-9]{1,128}$/.test(state)) throw new RangeError('letters and digits only');
      const query = new URLSearchParams({ redirect_uri: redirectUri, state });
      return Promise.resolve({ location: `${FAKE_PLATFORM_ORIGIN}/authorize?${query.toString()}`, kept: '' });
    },
    identify({ code }) {
      const userId = codes.get(code);
      codes.delete(code);
      if (userId === undefined) return Promise.reject(new PlatformError('code_refused', 'unknown code'));
      if (userId === 'stranger') return Promise.reject(new PlatformError('not_a_member', 'not of this company'));
      return Promise.resolve({ userId, tenant });
    },
  };
}
