import { CodedError } from '../../shared/coded-error.ts';
import { definedOnly } from '../../shared/defined-only.ts';
import type {
  Bootstrap,
  ConversationView,
  FrameRequest,
  FrameView,
  MessageView,
  RatingReason,
  SendRequest,
} from '../api.ts';

/** `unreachable` if no response arrived, `rate_limited` and `too_large` by HTTP status, otherwise the server's own code. */
export class ApiError extends CodedError {
  /** User-facing message from the server, if any. */
  readonly shown: string | undefined;

  constructor(code: string, shown?: string, cause?: unknown) {
    super(code, `The messenger returned "${code}"`, { cause });
    this.shown = shown;
  }
}

/** An uploaded image or file, for previews and for sending with a message. */
export interface Upload {
  id: string;
  /** Absent for a file other than an image. */
  url?: string;
}

export type Rating = 'good' | 'bad' | 'withdrawn';

/** Reasons for a bad rating. */
export interface RatingDetails {
  reasons?: RatingReason[];
  words?: string;
}

const STATUS_CODES: Readonly<Record<number, string>> = { 413: 'too_large', 429: 'rate_limited' };
/** Request timeout. Generous, because the server accepts a message immediately (202). */
const ANSWER_TIMEOUT_MS = 15_000;
/** The same for a file, as long as the server takes it. */
const UPLOAD_TIMEOUT_MS = 60_000;

/** GET /api/bootstrap. All functions here throw `ApiError`. */
export function fetchBootstrap(): Promise<Bootstrap> {
  return callJson<Bootstrap>('GET', '/api/bootstrap');
}

/** A person's conversations. */
export function fetchConversations(person: string): Promise<ConversationView[]> {
  return callJson('GET', `/api/people/${encodeURIComponent(person)}/conversations`);
}

/** The last messages of a conversation (or those before a given one), oldest first. */
export function fetchMessages(person: string, conversationId: string, beforeId?: string): Promise<MessageView[]> {
  const query = new URLSearchParams(definedOnly({ person, before: beforeId }));
  return callJson('GET', `${conversationPath(conversationId)}/messages?${query}`);
}

/** Sends a message to the server; its further states arrive as events. */
export function sendMessage(conversationId: string, request: SendRequest): Promise<MessageView> {
  return callJson('POST', `${conversationPath(conversationId)}/messages`, request);
}

/** Marks all messages of the conversation as read by the person. */
export async function markRead(person: string, conversationId: string): Promise<void> {
  await call('POST', `${conversationPath(conversationId)}/read`, { person });
}

/** What a person does to a message, with its values. */
export type MessageAct =
  /** Only for a message that failed according to the server. */
  | { act: 'resend' }
  /** Stops a growing answer, if the app itself supports that. */
  | { act: 'stop' }
  | ({ act: 'rate'; rating: Rating } & RatingDetails)
  /** Done once the bot has accepted the press. */
  | { act: 'press'; button: string }
  | { act: 'edit'; text: string }
  | { act: 'remove' };

/** Does something to a message. */
export async function actOn(person: string, messageId: string, { act, ...values }: MessageAct): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/${act}`, { person, ...values });
}

/** Uploads a file other than an image, with its name. */
export function uploadFile(file: File): Promise<Upload> {
  const bytes = new Blob([file], { type: 'application/octet-stream' });
  return callJson('POST', `/api/uploads?${new URLSearchParams({ name: file.name })}`, bytes);
}

/** Uploads an image's bytes with their own content type. */
export function uploadImage(image: Blob): Promise<Required<Upload>> {
  return callJson('POST', '/api/uploads', image);
}

/** Opens a link in the person's in-app browser. */
export function openFrame(request: FrameRequest): Promise<FrameView> {
  return callJson('POST', '/api/frames', request);
}

/** Closes a frame and its listener. */
export async function closeFrame(frameId: string): Promise<void> {
  await call('DELETE', `/api/frames/${encodeURIComponent(frameId)}`);
}

function conversationPath(conversationId: string): string {
  return `/api/conversations/${encodeURIComponent(conversationId)}`;
}

/** Calls the messenger's server and parses its JSON. @throws ApiError */
export async function callJson<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  return call(method, path, body, async (response) => (await response.json()) as Answer);
}

/** @param read reads the response body; the timeout includes it */
async function call<Answer = void>(
  method: string,
  path: string,
  body?: object,
  read?: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), body instanceof Blob ? UPLOAD_TIMEOUT_MS : ANSWER_TIMEOUT_MS);
  try {
    const sent = body === undefined ? {} : bodyOf(body);
    const response = await fetch(path, { method, signal: giveUp.signal, ...sent });
    if (!response.ok) throw await refusalOf(response);
    return (await read?.(response)) as Answer;
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError('unreachable', undefined, error);
  } finally {
    clearTimeout(timer);
  }
}

function bodyOf(body: object): { body: string | Blob; headers: Record<string, string> } {
  if (body instanceof Blob) return { body, headers: { 'content-type': body.type } };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function refusalOf(response: Response): Promise<ApiError> {
  const answer = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  const code = STATUS_CODES[response.status] ?? answer.error?.code ?? 'unreachable';
  return new ApiError(code, answer.error?.message);
}
