import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { languageOfHeader } from '../../shared/text/texts.ts';
import { MAX_FILE_BYTES, type Bootstrap } from '../api.ts';
import type { Frames } from '../browser/frames.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { MessengerError } from '../messenger-error.ts';
import type { MessengerContext, Protocol, ProtocolFactory, UserMessage } from '../protocol.ts';
import { sniffImageType } from '../media-store.ts';
import { CHINESE_SPELLINGS, SLASH_COMMANDS } from '../offered-words.ts';
import { viewOf } from '../stored-message.ts';
import { streamEvents } from './event-stream.ts';
import { readBody } from './read-body.ts';

export interface PageApiOptions {
  side: MessengerContext;
  protocol: Protocol;
  protocolName: ProtocolFactory['name'];
  frames: Frames;
  /** Origins that the in-app browser may visit. */
  trustedOrigins: readonly string[];
  logins: Pick<Bootstrap, 'localLogins' | 'signInHost'> | undefined;
  /** Whether the page may control its own Parley. */
  isLocal: boolean;
}

const person = z.string().min(1);
const sendRequest = z.object({
  person,
  text: z.string().max(200_000),
  images: z.array(z.string()).default([]),
  files: z.array(z.string()).default([]),
  quoteMessageId: z.string().optional(),
  clientId: z.string().min(1).max(64).optional(),
});
const personRequest = z.object({ person });
const rateRequest = z.object({
  person,
  rating: z.enum(['good', 'bad', 'withdrawn']),
  reasons: z.array(z.enum(['irrelevant', 'incomplete', 'wrong', 'analysis'])).optional(),
  words: z.string().max(2_000).optional(),
});
const pressRequest = z.object({ person, button: z.string().min(1).max(4_000) });
const editRequest = z.object({ person, text: z.string().max(200_000) });
const frameRequest = z.object({ person, url: z.string().max(8_192) });

/** The endpoints of `api.ts`, for the messenger's page. */
export function pageApi(options: PageApiOptions): Router {
  const router = new Router({ prefix: '/api' });
  const { side, frames } = options;
  router.get('/bootstrap', (context) => {
    const people = [...side.directory.people];
    context.body = {
      botName: side.bot.name,
      people,
      slashWords: SLASH_COMMANDS,
      otherSpellings: CHINESE_SPELLINGS,
      protocol: options.protocolName,
      inAppOrigins: [...options.trustedOrigins],
      isLocal: options.isLocal,
      ...options.logins,
    } satisfies Bootstrap;
  });
  router.get('/people/:person/conversations', async (context) => {
    context.body = await side.chatLog.conversations(param(context, 'person'));
  });
  router.get('/people/:person/events', (context) => {
    const personId = side.directory.person(param(context, 'person')).id;
    noteLanguage(context, personId, side);
    const first = { name: 'bot', data: { reachable: side.bot.isReachable() } } as const;
    const after = context.get('last-event-id') || String(context.query['after'] ?? '') || undefined;
    const { hub, background, timing } = side;
    streamEvents(context, { hub, personId, first, after, beatMs: timing.beatMs, signal: background.signal });
  });
  addMessageRoutes(router, options);
  router.post('/uploads', async (context) => {
    context.status = 201;
    const bytes = await readUpload(context.req);
    const { name } = context.query;
    const isFile = typeof name === 'string' && sniffImageType(bytes) === undefined;
    context.body = isFile ? await side.media.saveFile(name.slice(0, 255), bytes) : await side.media.saveImage(bytes);
  });
  router.get('/images/:id', async (context) => {
    const { bytes, type } = await side.media.readImage(param(context, 'id'));
    context.set('Cache-Control', 'private, max-age=31536000, immutable');
    context.set('X-Content-Type-Options', 'nosniff');
    context.type = type;
    context.body = bytes;
  });
  router.post('/frames', async (context) => {
    const request = parse(frameRequest, context);
    context.status = 201;
    context.body = await frames.open(side.directory.person(request.person).id, request.url);
  });
  router.delete('/frames/:id', async (context) => {
    await frames.close(param(context, 'id'));
    context.status = 204;
  });
  return router;
}

function addMessageRoutes(router: Router, { side, protocol }: PageApiOptions): void {
  const sends = new KeyedMutex();
  // A page without a response sends again, and both requests may be handled at the same time when a suspended process resumes.
  const sendOnce = (saying: UserMessage) => {
    const { person, clientId } = saying;
    if (clientId === undefined) return protocol.send(saying);
    return sends.run(
      JSON.stringify([person, clientId]),
      async () => (await side.store.findByClientId(person, clientId)) ?? protocol.send(saying),
    );
  };
  const amend = async (personId: string, messageId: string, text: string | undefined) => {
    const amended = await protocol.amend?.(personId, messageId, text);
    if (!amended) throw new MessengerError('bad_request', 'Messages cannot be edited or deleted on this platform');
    // The page must not wait for retries.
    amended.notification.catch((error: unknown) =>
      side.background.failed(error, 'a change could not be delivered to the bot'),
    );
    return amended.message;
  };
  router.get('/conversations/:id/messages', async (context) => {
    const { person: reader, before } = context.query;
    const beforeId = before === undefined ? undefined : String(before);
    context.body = await side.chatLog.messages(String(reader ?? ''), param(context, 'id'), beforeId);
  });
  router.post('/conversations/:id/messages', async (context) => {
    const { person: sender, text, images, files, quoteMessageId, clientId } = parse(sendRequest, context);
    const conversationId = param(context, 'id');
    const media = { imageIds: images, fileIds: files };
    const saying = { person: sender, conversationId, text, ...media, quoteMessageId, clientId };
    context.status = 202;
    context.body = viewOf(await sendOnce(saying), sender);
  });
  router.post('/conversations/:id/read', async (context) => {
    const reader = parse(personRequest, context).person;
    const id = param(context, 'id');
    noteLanguage(context, reader, side);
    await side.chatLog.markRead(reader, id);
    if (side.directory.conversation(id).kind === 'private') enterInBackground(reader, { side, protocol });
    context.status = 204;
  });
  router.post('/messages/:id/resend', async (context) => {
    context.status = 202;
    const sender = parse(personRequest, context).person;
    context.body = viewOf(await protocol.resend(sender, param(context, 'id')), sender);
  });
  router.post('/messages/:id/stop', async (context) => {
    await protocol.stop(parse(personRequest, context).person, param(context, 'id'));
    context.status = 204;
  });
  router.post('/messages/:id/rate', async (context) => {
    const { person: rater, rating, ...why } = parse(rateRequest, context);
    context.body = viewOf(await protocol.rate(rater, param(context, 'id'), rating, why), rater);
  });
  router.post('/messages/:id/press', async (context) => {
    const request = parse(pressRequest, context);
    context.body = viewOf(await protocol.press(request.person, param(context, 'id'), request.button), request.person);
  });
  router.post('/messages/:id/edit', async (context) => {
    const request = parse(editRequest, context);
    context.body = viewOf(await amend(request.person, param(context, 'id'), request.text), request.person);
  });
  router.post('/messages/:id/remove', async (context) => {
    await amend(parse(personRequest, context).person, param(context, 'id'), undefined);
    context.status = 204;
  });
}

function noteLanguage(context: Context, personId: string, { directory }: Pick<MessengerContext, 'directory'>): void {
  const languages = context.get('accept-language');
  if (languages !== '') directory.noteLanguage(personId, languageOfHeader(languages));
}

// The page must not wait for the bot's welcome.
function enterInBackground(personId: string, { side, protocol }: Pick<PageApiOptions, 'side' | 'protocol'>): void {
  const entry = protocol.enterChat(personId);
  entry.catch((error: unknown) =>
    side.background.failed(error, 'the opening of a chat could not be delivered to the bot'),
  );
}

function parse<T>(schema: z.ZodType<T>, context: Context): T {
  const read = schema.safeParse(context.request.body);
  if (read.success) return read.data;
  const where = read.error.issues[0]?.path.join('.') ?? '';
  throw new MessengerError('bad_request', `The request is invalid${where === '' ? '' : ` (${where})`}`);
}

function param(context: Context, name: string): string {
  return String((context['params'] as Record<string, string>)[name]);
}

function readUpload(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new MessengerError('file_too_large', 'The file is larger than 25 MB');
  return readBody(request, MAX_FILE_BYTES, tooLarge);
}
