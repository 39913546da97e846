import type { NowMs } from '../../base/clock.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import type { Log } from '../../base/log.ts';
import type { SafeHtml } from '../../base/html.ts';
import type { Bilingual, Language } from '../../base/texts.ts';
import type { BackToChat, Platform } from '../../platforms/platform.ts';
import type { ChatPerson, IdentityNotice, PersonOwner, Release } from '../account.ts';
import type { Account } from '../../domain/account.ts';
import type { Audit } from '../audit.ts';
import type { CommitLink, CommitTyped } from '../links/commit-link.ts';
import type { SignInDialect } from '../dialects/dialect.ts';
import type { SignInOptions } from '../options.ts';
import type { PendingSignIns } from '../tickets/pending-sign-ins.ts';
import { isOwnForm } from './request-guards.ts';
import { PageError } from '../pages/page-error.ts';
import type { Tickets } from '../tickets/tickets.ts';
import type { Transactions } from '../tickets/transactions.ts';
import type { TypedCodes } from '../typed-code/typed-codes.ts';
import type { Vault } from '../tokens/vault.ts';
import type { WaitsFor } from '../links/waiting.ts';

/** What the steps of a sign-in work with. */
export interface SignInFlow {
  signIn: SignInOptions;
  providerName: Bilingual;
  /** `https://HOST[:PORT]`, without a path. */
  publicOrigin: string;
  /** Makes form tokens. */
  csrfKey: Buffer;
  /** Those that form tokens may be made with: a form that was given out before a key rotation still counts. */
  csrfKeys: readonly Buffer[];
  keyRing: KeyRing;
  vault: Vault;
  tickets: Tickets;
  transactions: Transactions;
  pendingSignIns: PendingSignIns;
  dialect: SignInDialect;
  commit: CommitLink;
  commitTyped: CommitTyped;
  codes: TypedCodes;
  audit: Audit;
  log: Log;
  nowMs: NowMs;
  /** The platform that a ticket belongs to; undefined when it is switched off meanwhile. */
  platformOf(owner: PersonOwner): Platform | undefined;
  /** How a page leads back to the chat: of this person, or of whoever uses this browser. */
  backTo(userAgent: string, owner?: PersonOwner): BackToChat | undefined;
  /** Which question waits for this person's sign-in. @throws IdentityError `store_away` */
  waitsFor(person: ChatPerson): Promise<WaitsFor>;
  /** The account that a person is linked to now. @throws IdentityError `store_away` */
  linkedAs(person: ChatPerson): Promise<Account | undefined>;
  /** Tells a person something in their private chat, in the background. */
  tell(person: ChatPerson, notice: IdentityNotice): void;
  /** Hands a release on, in the background. */
  release(release: Release): void;
}

/** What a step reads of a browser's request. */
export interface BrowserRequest {
  language: Language;
  userAgent: string;
  /** The valid value of the browser cookie. */
  cookie?: string;
  querystring: string;
  origin?: string;
  secFetchSite?: string;
  form: Readonly<Record<string, unknown>>;
}

/** What a step answers. `cookie` is a new value of the browser cookie. */
export type PageOutcome =
  | { kind: 'page'; page: SafeHtml; cookie?: string; back?: BackToChat }
  /** `isCallback`: the address holds a code, which the next page must not learn. */
  | { kind: 'redirect'; location: string; cookie?: string; isCallback?: boolean };

/** @throws PageError page-expired unless the form is one that we gave to this browser for this ticket */
export function demandOwnForm(flow: SignInFlow, request: BrowserRequest, ticketHash: string): string {
  const { cookie, origin, secFetchSite, form } = request;
  const post = { cookie, origin, secFetchSite, token: form['csrf'] };
  const { publicOrigin, csrfKeys } = flow;
  const isOwn = csrfKeys.some((key) => isOwnForm(post, { key, ticketHash, publicOrigin }));
  if (!isOwn || cookie === undefined) throw new PageError('page-expired');
  return cookie;
}
