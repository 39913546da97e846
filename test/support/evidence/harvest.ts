import type { IncomingHttpHeaders } from 'node:http';
import { isFuzzing, registerPublic, registerSecret, type SecretKind } from './evidence.ts';

/** Secret parameters of addresses and fields of forms and JSON. */
const SECRET_FIELDS: ReadonlyMap<string, SecretKind> = new Map(
  Object.entries({
    code: 'code',
    state: 'state',
    password: 'password',
    client_secret: 'client secret',
    corpsecret: 'client secret',
    code_verifier: 'verifier',
    refresh_token: 'token',
    access_token: 'token',
    id_token: 'token',
  } as const),
);
/** Single words such as an error code are not secret. */
const MIN_CHARS = 10;
const MIN_TEXT_CHARS = 12;

/** A request or a response of HTTP, as seen by either side. */
export interface SeenHttp {
  /** Path and query of a request. */
  url?: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Registers the secrets of a request: keys, tokens, passwords, cookies, texts of people. */
export function harvestRequest(request: SeenHttp): void {
  if (!isFuzzing()) harvest(request);
}

/** Registers the secrets of a response: codes, tokens, cookies, answers. */
export function harvestAnswer(answer: SeenHttp): void {
  harvest(answer);
}

function harvest({ url, headers, body }: SeenHttp): void {
  for (const address of [url, headers.location]) if (address !== undefined) harvestAddress(address);
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  registerLong('token', bearer);
  for (const line of headers['set-cookie'] ?? []) registerLong('cookie', /^[^=]+=([^;]*)/.exec(line)?.[1]);
  for (const pair of (headers.cookie ?? '').split('; ')) registerLong('cookie', pair.slice(pair.indexOf('=') + 1));
  const type = headers['content-type'] ?? '';
  if (type.includes('urlencoded')) harvestParameters(new URLSearchParams(body));
  if (type.includes('json')) harvestJson(body);
  if (type.includes('event-stream')) harvestStream(body);
  if (type.includes('html')) harvestTypedCode(body);
}

/** Registers a text or an answer, if it is long enough to be distinctive. */
export function registerText(text: string): void {
  if (text.length >= MIN_TEXT_CHARS) registerSecret('text', text);
}

function harvestAddress(address: string): void {
  const url = URL.canParse(address, 'http://any') ? new URL(address, 'http://any') : undefined;
  if (!url) return;
  harvestParameters(url.searchParams);
  // The hash of a verifier, which goes through the browser (RFC 7636).
  for (const challenge of url.searchParams.getAll('code_challenge')) registerPublic(challenge);
  // CAS; in the bot's own form the field of that name is the hash of the ticket.
  registerLong('ticket', url.searchParams.get('ticket') ?? undefined);
  registerLong('ticket', /^\/link\/([\w-]{16,})/.exec(url.pathname)?.[1]);
  // Addresses inside addresses: the return address after a sign-in.
  for (const value of url.searchParams.values()) if (/^(https?:|\/)/.test(value)) harvestAddress(value);
}

function harvestParameters(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    const kind = SECRET_FIELDS.get(name);
    if (kind) registerLong(kind, value);
  }
}

/** Possible fields of a chat request, answer or chunk; all are unverified, since tests also send invalid data. */
interface ChatBody {
  messages?: ({ role?: unknown; content?: unknown } | null)[];
  choices?: ({ message?: { content?: unknown } | null; delta?: { content?: unknown } | null } | null)[];
}

function harvestJson(body: string): void {
  const parsed = parse(body);
  if (typeof parsed !== 'object' || parsed === null) return;
  for (const [name, value] of Object.entries(parsed)) {
    const kind = SECRET_FIELDS.get(name);
    if (kind && typeof value === 'string') registerLong(kind, value);
  }
  const { messages, choices } = parsed as ChatBody;
  if (Array.isArray(messages))
    for (const message of messages) if (message?.role !== 'system') harvestContent(message?.content);
  if (Array.isArray(choices)) for (const choice of choices) harvestContent(choice?.message?.content);
}

function harvestContent(content: unknown): void {
  if (typeof content === 'string') registerText(content);
  if (Array.isArray(content))
    for (const part of content as ({ text?: unknown } | null)[])
      if (typeof part?.text === 'string') registerText(part.text);
}

/** The code on a page that is to be typed into the chat (SECURITY.md typed-code). */
function harvestTypedCode(page: string): void {
  const shown = /class="symbols">(\w{4})-(\w{4})</.exec(page);
  for (const between of shown ? ['-', ''] : []) registerSecret('code', shown?.slice(1).join(between));
}

/** Reads a streamed answer as one text. */
function harvestStream(body: string): void {
  const pieces = [...body.matchAll(/^data: (\{.*\})\s*$/gm)].map(
    ([, data]) => parse(data ?? '') as ChatBody | undefined,
  );
  const text = pieces.map((piece) => piece?.choices?.[0]?.delta?.content).filter((piece) => typeof piece === 'string');
  registerText(text.join(''));
}

function registerLong(kind: SecretKind, value: string | undefined): void {
  // A response repeats the state of its request.
  if (kind === 'state' && isFuzzing()) return;
  if (value !== undefined && value.length >= MIN_CHARS) registerSecret(kind, value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
