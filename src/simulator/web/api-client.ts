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

/** `unreachable` when no answer came, `rate_limited` and `too_large` by HTTP status, else the server's own code. */
export class ApiError extends CodedError {
  /** The server's sentence for people, when it gave one. */
  readonly shown: string | undefined;

  constructor(code: string, shown?: string, cause?: unknown) {
    super(code, `The messenger's server answered "${code}"`, { cause });
    this.shown = shown;
  }
}

/** An uploaded image or file, to be named in a message and shown before that. */
export interface Upload {
  id: string;
  /** Absent of a file of another kind. */
  url?: string;
}

export type Rating = 'good' | 'bad' | 'withdrawn';

/** Why an answer is bad. */
export interface RatingWhy {
  reasons?: RatingReason[];
  words?: string;
}

const STATUS_CODES: Readonly<Record<number, string>> = { 413: 'too_large', 429: 'rate_limited' };
/** How long the server may take; a send is accepted at once (202), so this is generous. */
const ANSWER_TIMEOUT_MS = 15_000;

/** GET /api/bootstrap. Every function here throws `ApiError`. */
export function fetchBootstrap(): Promise<Bootstrap> {
  return callJson<Bootstrap>('GET', '/api/bootstrap');
}

/** The conversations that a person is in. */
export function fetchConversations(person: string): Promise<ConversationView[]> {
  return callJson('GET', `/api/people/${encodeURIComponent(person)}/conversations`);
}

/** The last messages of a conversation (those before one, where it is named), oldest first. */
export function fetchMessages(person: string, conversationId: string, beforeId?: string): Promise<MessageView[]> {
  const query = new URLSearchParams(definedOnly({ person, before: beforeId }));
  return callJson('GET', `${conversationPath(conversationId)}/messages?${query}`);
}

/** Hands a message over; what becomes of it comes as events. */
export function sendMessage(conversationId: string, request: SendRequest): Promise<MessageView> {
  return callJson('POST', `${conversationPath(conversationId)}/messages`, request);
}

/** Sends a message again that the server holds as failed. */
export async function resendMessage(person: string, messageId: string): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/resend`, { person });
}

/** Marks everything in the conversation as read by the person. */
export async function markRead(person: string, conversationId: string): Promise<void> {
  await call('POST', `${conversationPath(conversationId)}/read`, { person });
}

/** Stops a growing answer, where the app itself can. */
export async function stopAnswer(person: string, messageId: string): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/stop`, { person });
}

/** Rates an answer, or takes the rating back. */
export async function rateMessage(
  person: string,
  messageId: string,
  rating: Rating,
  why: RatingWhy = {},
): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/rate`, { person, rating, ...why });
}

/** Presses a button of the bot's. Resolves once the bot has taken it. */
export async function pressButton(person: string, messageId: string, button: string): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/press`, { person, button });
}

/** Changes an own message. */
export async function editMessage(person: string, messageId: string, text: string): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/edit`, { person, text });
}

/** Deletes an own message. */
export async function removeMessage(person: string, messageId: string): Promise<void> {
  await call('POST', `/api/messages/${encodeURIComponent(messageId)}/remove`, { person });
}

/** Uploads one file of another kind, under its name. */
export function uploadFile(file: File): Promise<Upload> {
  const bytes = new Blob([file], { type: 'application/octet-stream' });
  return callJson('POST', `/api/uploads?${new URLSearchParams({ name: file.name })}`, bytes);
}

/** Uploads one image's bytes under their own content type. */
export function uploadImage(image: Blob): Promise<Required<Upload>> {
  return callJson('POST', '/api/uploads', image);
}

/** Opens a link in the person's in-app browser. */
export function openFrame(request: FrameRequest): Promise<FrameView> {
  return callJson('POST', '/api/frames', request);
}

/** Closes a frame and frees its listener. */
export async function closeFrame(frameId: string): Promise<void> {
  await call('DELETE', `/api/frames/${encodeURIComponent(frameId)}`);
}

function conversationPath(conversationId: string): string {
  return `/api/conversations/${encodeURIComponent(conversationId)}`;
}

/** Calls the messenger's server and reads its JSON. @throws ApiError */
export async function callJson<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  return call(method, path, body, async (response) => (await response.json()) as Answer);
}

/** @param read takes the answer's body; until it has it, the time runs */
async function call<Answer = void>(
  method: string,
  path: string,
  body?: object,
  read?: (response: Response) => Promise<Answer>,
): Promise<Answer> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), ANSWER_TIMEOUT_MS);
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
