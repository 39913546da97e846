import type { Context } from 'koa';
import { MINUTE_MS, type NowMs } from '../../shared/clock.ts';
import { isPublicHost } from '../../shared/http/public-host.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { recordWith, tryOpenJson } from '../../shared/crypto/decrypt-record.ts';
import type { AuthorizeRequest } from './authorize-request.ts';
import { browserIdOf, knownBrowserId } from './cookies.ts';
import { PageError } from './sign-in-errors.ts';

/** Subject of one of our forms; sealed into the form itself. */
export type FormSubject =
  | { kind: 'login'; returnTo: string }
  | { kind: 'consent'; username: string; returnTo: string; request: AuthorizeRequest }
  | { kind: 'withdraw'; username: string; clientId: string };

interface SealedForm {
  subject: FormSubject;
  madeAtMs: number;
}

/** Where the forms are served, for browsers. */
export interface FormPlace {
  publicUrl: string;
  trustedProxyHops: number;
}

const FORM_LIFE_MS = 30 * MINUTE_MS;
const PURPOSE = 'service-form';

/**
 * Hidden fields that contain the subject of a form and prove that it was made for this browser. They are sealed with a key
 * of the service and bound to the browser's cookie, so they act as CSRF token and need no storage in Redis.
 */
export class Forms {
  readonly #keyRing: KeyRing;
  readonly #nowMs: NowMs;
  readonly #publicOrigin: string;
  readonly #trustedProxyHops: number;

  constructor(keyRing: KeyRing, nowMs: NowMs, { publicUrl, trustedProxyHops }: FormPlace) {
    this.#keyRing = keyRing;
    this.#nowMs = nowMs;
    this.#publicOrigin = new URL(publicUrl).origin;
    this.#trustedProxyHops = trustedProxyHops;
  }

  /** The value for the form's hidden field. */
  seal(ctx: Context, subject: FormSubject): string {
    return this.#keyRing.seal(PURPOSE, browserIdOf(ctx), JSON.stringify({ subject, madeAtMs: this.#nowMs() }));
  }

  /** The subject of a submitted form, if it has this kind and is younger than half an hour. @throws PageError */
  open<Kind extends FormSubject['kind']>(ctx: Context, kind: Kind): Extract<FormSubject, { kind: Kind }> {
    this.#checkOrigin(ctx);
    const browserId = knownBrowserId(ctx);
    const sealed = formField(ctx, 'csrf');
    if (browserId === undefined || sealed === undefined)
      throw new PageError('form_expired', 'A form was sent without its cookie or token');
    const { subject, madeAtMs } = this.#read(browserId, sealed);
    const isYoung = this.#nowMs() - madeAtMs < FORM_LIFE_MS;
    if (!isYoung || subject.kind !== kind)
      throw new PageError('form_expired', 'A form has expired or has the wrong kind');
    return subject as Extract<FormSubject, { kind: Kind }>;
  }

  /** A form that is broken or whose key is missing must be submitted again. */
  #read(browserId: string, sealed: string): SealedForm {
    const opened = tryOpenJson(() => this.#keyRing.open(PURPOSE, browserId, sealed), readForm);
    if (opened.kind === 'opened') return opened.value;
    throw new PageError('form_expired', 'A form belongs to another browser', { cause: opened.error });
  }

  /** In-app web views may omit these headers; headers that are sent must match our origin. */
  #checkOrigin(ctx: Context): void {
    const origin = ctx.get('Origin');
    // Without `Origin`, only the requested host name tells which site the form was on.
    const isOurs =
      origin === this.#publicOrigin ||
      (origin === '' && isPublicHost(ctx.req, this.#publicOrigin, this.#trustedProxyHops));
    const site = ctx.get('Sec-Fetch-Site');
    if (!isOurs || (site !== '' && site !== 'same-origin'))
      throw new PageError('foreign_form', 'A form was sent from another site');
  }
}

/** One field of a form; undefined if it is missing. @throws PageError if it occurs twice */
export function formField(ctx: Context, name: string): string | undefined {
  const value = (ctx.request.body as Record<string, unknown> | undefined)?.[name];
  if (value !== undefined && typeof value !== 'string') throw new PageError('bad_request', 'A form field occurs twice');
  return value;
}

function readForm(value: unknown): SealedForm | undefined {
  const form = recordWith<SealedForm>()(value);
  return form && recordWith<FormSubject>('kind')(form.subject) && typeof form.madeAtMs === 'number' ? form : undefined;
}
