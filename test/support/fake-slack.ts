import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buttonsOf, type SlackButton } from './slack-buttons.ts';
import { noteOf, textOf } from './slack-texts.ts';
import { setTimeout as pause } from 'node:timers/promises';

/** A message as shown in the fake Slack. */
export interface SlackMessage {
  channel: string;
  ts: string;
  threadTs?: string;
  text: string;
  /** The text of its context blocks, apart from the message. */
  note: string;
  user: string;
  /** The current buttons below it. */
  buttons: SlackButton[];
  /** The workspace whose token posted it. */
  team?: string;
  isStreaming: boolean;
  metadata?: { event_type: string; event_payload?: { key?: string } };
  /** Every text that it ever had, with its time. */
  snapshots: string[];
  snapshotAtMs: number[];
}

/** The fault of the next call of a method. `after`: the call is executed, but its response never arrives. */
export type SlackFault =
  | { kind: 'busy'; retryAfterSec: number }
  | { kind: 'status'; status: number }
  | { kind: 'error'; error: string }
  | { kind: 'cut'; when: 'before' | 'after' }
  /**
   * Executed after a delay, whether or not the caller still waits. The response then comes at once, after a further delay,
   * or never.
   */
  | { kind: 'late'; afterMs: number; isAnswered: boolean; answeredAfterMs?: number }
  | { kind: 'html' };

/** A file of the bot: announced, uploaded, and visible once it is complete. */
export interface SlackBotFile {
  id: string;
  name: string;
  length: number;
  text?: string;
  title?: string;
  /** Each place where it was shown. */
  shownIn: { channel: string; threadTs?: string }[];
}

/**
 * The line under a thread about the bot's activity. Slack removes it at the app's next message there, or after two minutes.
 */
export interface SlackStatus {
  channel: string;
  threadTs: string;
  text: string;
  atMs: number;
}

export interface FakeSlack {
  /** Ends in `/api`. */
  apiUrl: string;
  messages: SlackMessage[];
  /** `team`: the second or later workspace whose token made the call. */
  calls: { method: string; args: Record<string, unknown>; team?: string }[];
  /** Faults by method, each used once, in order. */
  faults: Map<string, SlackFault[]>;
  /** The error of every call except `auth.test` while it is set. */
  tokenFault: string | undefined;
  /** Maximum messages of one lookup. */
  pageSize: number;
  /** Deleted messages. */
  removed: SlackMessage[];
  /** The results of `users.info`, by user id. */
  people: Map<string, object>;
  /** Messages of people in threads, as Slack returns them, by the `ts` of the thread's first message. */
  threads: Map<string, { ts: string; [field: string]: unknown }[]>;
  /** The channel names in `conversations.info`, by channel id. */
  channels: Map<string, string>;
  /** Files that people shared, by the path of their address. */
  files: Map<string, Buffer>;
  /** The results of `files.info` for people's files, by id, depending on the requested host. */
  fileFacts: Map<string, (host: string) => object>;
  /** Awaited before a requested file is sent. Defaults to no delay. */
  onFile?(): Promise<void>;
  /** Files that the bot uploaded. */
  botFiles: SlackBotFile[];
  /** The upload address for the bot's files. Defaults to this server. */
  uploadOrigin: string | undefined;
  /** The socket address for callers with an app-level token. Defaults to none. */
  socketUrl: string | undefined;
  /** The app id in `bots.info`. By default the app lacks the scope for this call. */
  appId: string | undefined;
  /**
   * Requests to the response addresses of commands (`/commands/…`), and the next statuses of their responses. Defaults to
   * 200.
   */
  responses: { path: string; body: Record<string, unknown>; status: number }[];
  responseStatuses: number[];
  /** Other workspaces in which the app is installed, by their tokens. */
  workspaces: Map<string, string>;
  /** The results of an administrator's consent, by code; each is used once. */
  consents: Map<string, object>;
  /** The current status lines. */
  statuses(): SlackStatus[];
  /** Sets the faults of calls for which no fault is listed. */
  meet(faultOf: (method: string) => SlackFault | undefined): void;
  /** The same for the content of a call; used after `meet`. */
  meetCall?(call: { method: string; args: Record<string, unknown> }): SlackFault | undefined;
  /** Ends a stream, like Slack after about five minutes. */
  endStreams(): void;
  close(): Promise<void>;
}

type Answer = { ok: true; [name: string]: unknown } | { ok: false; error: string };

const STATUS_LIFE_MS = 120_000;
const BOT = { user_id: 'UBOT', bot_id: 'BBOT', user: 'parley', team: 'Example', team_id: 'T1' };

/**
 * Slack's Web API as far as the bot uses it, with Slack's restrictions: streams expire, accept only appends, and need a
 * thread.
 */
export async function startFakeSlack(token: string): Promise<FakeSlack> {
  let counter = 0;
  let origin = '';
  /** Messages that contain only a file. */
  const shares: { ts: string; thread_ts: string | undefined; [field: string]: unknown }[] = [];
  const messages: SlackMessage[] = [];
  const statuses = new Map<string, SlackStatus>();
  let faultOf: (method: string) => SlackFault | undefined = () => undefined;
  const slack: Omit<FakeSlack, 'apiUrl' | 'close'> = {
    messages,
    calls: [],
    faults: new Map(),
    tokenFault: undefined,
    pageSize: 200,
    appId: undefined,
    socketUrl: undefined,
    removed: [],
    responses: [],
    responseStatuses: [],
    ...{ files: new Map(), fileFacts: new Map() },
    botFiles: [],
    uploadOrigin: undefined,
    people: new Map(),
    threads: new Map(),
    channels: new Map(),
    workspaces: new Map(),
    consents: new Map(),
    statuses: () => [...statuses.values()].filter(({ atMs }) => atMs > Date.now() - STATUS_LIFE_MS),
    meet: (next) => (faultOf = next),
    endStreams: () => messages.forEach((message) => (message.isStreaming = false)),
  };
  const find = (args: Record<string, unknown>) =>
    messages.findLast(({ channel, ts }) => channel === args['channel'] && ts === args['ts']);
  const snapshot = (message: SlackMessage, text: string, args: Record<string, unknown> = {}) => {
    message.text = text;
    message.note = noteOf(args);
    message.buttons = buttonsOf(args);
    message.snapshots.push(text);
    message.snapshotAtMs.push(Date.now());
  };
  let [team, host] = [BOT.team_id, ''];
  const add = (args: Record<string, unknown>, isStreaming: boolean): Answer => {
    counter += 1;
    const message: SlackMessage = {
      channel: String(args['channel']).replace(/^U/, 'D'),
      ts: `1760001000.${String(counter).padStart(6, '0')}`,
      ...(args['thread_ts'] === undefined ? {} : { threadTs: args['thread_ts'] as string }),
      text: textOf(args),
      note: noteOf(args),
      buttons: buttonsOf(args),
      user: BOT.user_id,
      team,
      isStreaming,
      snapshots: [textOf(args)],
      snapshotAtMs: [Date.now()],
      ...metadataOf(args),
    };
    messages.push(message);
    statuses.delete(`${message.channel}:${message.threadTs ?? ''}`);
    return { ok: true, channel: message.channel, ts: message.ts, message: echoOf(message) };
  };
  const setStatus = (args: Record<string, unknown>): Answer => {
    const [channel, threadTs, text] = ['channel_id', 'thread_ts', 'status'].map((name) => String(args[name]));
    const place = `${channel ?? ''}:${threadTs ?? ''}`;
    if (text === '') statuses.delete(place);
    else statuses.set(place, { channel: channel ?? '', threadTs: threadTs ?? '', text: text ?? '', atMs: Date.now() });
    return { ok: true };
  };
  const page = (found: SlackMessage[], args: Record<string, unknown>): Answer => {
    const from = Number(args['cursor'] ?? 0);
    const next = from + slack.pageSize;
    const more = next < found.length ? { has_more: true, response_metadata: { next_cursor: String(next) } } : {};
    const files = from === 0 ? shares.filter(({ thread_ts: threadTs }) => threadTs === args['ts']) : [];
    return { ok: true, messages: [...files, ...found.slice(from, next).map((one) => shown(one, args))], ...more };
  };
  /** A page of a thread in which people wrote: the oldest messages between `oldest` and `latest`, after the first one. */
  const threadPage = (
    said: readonly { ts: string; [field: string]: unknown }[],
    own: readonly SlackMessage[],
    args: Record<string, unknown>,
  ): Answer => {
    const all = [...said, ...own.map((one) => shown(one, args) as { ts: string })];
    const [first, ...replies] = all.sort((a, b) => (a.ts < b.ts ? -1 : 1));
    const { oldest = '', latest = '9' } = args as { oldest?: string; latest?: string };
    const found = [
      { ...first, reply_count: replies.length },
      ...replies.filter(({ ts }) => ts > oldest && ts < latest),
    ];
    const from = Number(args['cursor'] ?? 0);
    const next = from + Math.min(Number(args['limit'] ?? 1_000), slack.pageSize);
    const more = next < found.length ? { has_more: true, response_metadata: { next_cursor: String(next) } } : {};
    return { ok: true, messages: found.slice(from, next), ...more };
  };
  const methods: Record<string, (args: Record<string, unknown>) => Answer> = {
    'auth.test': () => ({ ok: true, ...BOT, team_id: team }),
    'chat.postMessage': (args) => refusalOf(args) ?? add(args, false),
    'chat.startStream': (args) => {
      if (args['thread_ts'] === undefined) return { ok: false, error: 'invalid_arguments' };
      const isPrivate = String(args['channel']).startsWith('D');
      if (!isPrivate && args['recipient_user_id'] === undefined)
        return { ok: false, error: 'missing_recipient_user_id' };
      return add(args, true);
    },
    'chat.appendStream': (args) => {
      const message = find(args);
      if (!message?.isStreaming) return { ok: false, error: 'message_not_in_streaming_state' };
      snapshot(message, message.text + textOf(args));
      return { ok: true, channel: message.channel, ts: message.ts };
    },
    'chat.stopStream': (args) => {
      const message = find(args);
      if (!message?.isStreaming) return { ok: false, error: 'message_not_in_streaming_state' };
      snapshot(message, message.text + textOf(args), args);
      message.isStreaming = false;
      Object.assign(message, metadataOf(args));
      return { ok: true, channel: message.channel, ts: message.ts, message: echoOf(message) };
    },
    'chat.update': (args) => {
      const message = find(args);
      if (!message) return { ok: false, error: 'message_not_found' };
      if (message.isStreaming) return { ok: false, error: 'cant_update_message' };
      const refusal = refusalOf(args);
      if (refusal) return refusal;
      snapshot(message, textOf(args), args);
      Object.assign(message, metadataOf(args));
      return { ok: true, channel: message.channel, ts: message.ts, message: echoOf(message) };
    },
    'chat.postEphemeral': () => ({ ok: true, message_ts: '1760001000.999999' }),
    'chat.delete': (args) => {
      const message = find(args);
      if (!message) return { ok: false, error: 'message_not_found' };
      messages.splice(messages.indexOf(message), 1);
      slack.removed.push(message);
      return { ok: true, channel: message.channel, ts: message.ts };
    },
    'conversations.replies': (args) => {
      const own = messages.filter((one) => one.threadTs === args['ts']);
      const said = slack.threads.get(String(args['ts']));
      return said ? threadPage(said, own, args) : page(own, args);
    },
    'conversations.history': (args) =>
      page(messages.filter((one) => one.channel === args['channel'] && one.threadTs === undefined).toReversed(), args),
    'apps.connections.open': () =>
      slack.socketUrl === undefined ? { ok: false, error: 'not_allowed' } : { ok: true, url: slack.socketUrl },
    'assistant.threads.setStatus': setStatus,
    'assistant.threads.setSuggestedPrompts': () => ({ ok: true }),
    'files.getUploadURLExternal': ({ filename, length }) => {
      const id = `F${slack.botFiles.length + 1}`;
      if (typeof filename !== 'string' || !/^\d+$/.test(String(length)))
        return { ok: false, error: 'invalid_arguments' };
      slack.botFiles.push({ id, name: filename, length: Number(length), shownIn: [] });
      return { ok: true, file_id: id, upload_url: `${slack.uploadOrigin ?? origin}/upload/${id}` };
    },
    'files.completeUploadExternal': (args) => {
      const { files, channel_id: channel, thread_ts: threadTs } = args as Record<string, string>;
      const [named] = JSON.parse(files ?? '[]') as { id: string; title: string }[];
      const file = slack.botFiles.find(({ id }) => id === named?.id);
      if (file?.text === undefined || channel === undefined) return { ok: false, error: 'file_not_found' };
      file.title = named?.title;
      // A file is shown once per place.
      if (file.shownIn.length === 0) {
        file.shownIn.push({ channel, threadTs });
        counter += 1;
        const ts = `1760001000.${String(counter).padStart(6, '0')}`;
        shares.push({
          ts,
          user: BOT.user_id,
          bot_id: BOT.bot_id,
          thread_ts: threadTs,
          text: '',
          files: [{ id: file.id }],
        });
      }
      return { ok: true, files: [{ id: file.id, title: file.title }] };
    },
    'files.info': ({ file: fileId }) => {
      const facts = slack.fileFacts.get(String(fileId));
      if (facts) return { ok: true, file: facts(host) };
      const file = slack.botFiles.find(({ id }) => id === fileId);
      if (!file) return { ok: false, error: 'file_not_found' };
      const shares = { private: Object.fromEntries(file.shownIn.map(({ channel }) => [channel, [{ ts: '1.1' }]])) };
      return { ok: true, file: { id: file.id, title: file.title, shares } };
    },
    'bots.info': () =>
      slack.appId === undefined
        ? { ok: false, error: 'missing_scope' }
        : { ok: true, bot: { id: BOT.bot_id, app_id: slack.appId } },
    'conversations.info': ({ channel }) => {
      const name = slack.channels.get(String(channel));
      return name === undefined ? { ok: false, error: 'channel_not_found' } : { ok: true, channel: { name } };
    },
    'users.list': () => ({ ok: true, members: [...slack.people].map(([id, person]) => ({ id, ...person })) }),
    'users.info': ({ user }) => {
      const found = slack.people.get(String(user));
      return found ? { ok: true, user: found } : { ok: false, error: 'user_not_found' };
    },
  };

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const file = slack.files.get(request.url ?? '');
    if (file) await slack.onFile?.();
    if (file) return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file);
    const method = (request.url ?? '').replace('/api/', '');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const [, uploadId] = /^\/upload\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (uploadId !== undefined) {
      const met = slack.faults.get('upload')?.shift();
      slack.calls.push({ method: 'upload', args: { authorization: request.headers.authorization } });
      if (met?.kind === 'cut') return void response.destroy();
      if (met?.kind === 'status') return void response.writeHead(met.status).end();
      const file = slack.botFiles.find(({ id }) => id === uploadId);
      const isWhole = file?.length === Buffer.byteLength(text);
      if (file && isWhole) file.text = text;
      return void response.writeHead(isWhole ? 200 : 400).end(`OK - ${text.length}`);
    }
    if (method === 'oauth.v2.access') {
      const form = Object.fromEntries(new URLSearchParams(text));
      slack.calls.push({ method, args: form });
      const consent = slack.consents.get(form['code'] ?? '');
      slack.consents.delete(form['code'] ?? '');
      const said = consent ? { ok: true, ...consent } : { ok: false, error: 'invalid_code' };
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
    }
    const args = // As in Slack: these accept only a form.
      (
        method.startsWith('files.') ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text || '{}')
      ) as Record<string, unknown>;
    if (request.url?.startsWith('/commands/') === true) {
      const status = slack.responseStatuses.shift() ?? 200;
      slack.responses.push({ path: request.url, body: args, status });
      return void response.writeHead(status).end(status === 200 ? 'ok' : 'expired_url');
    }
    const bearer = request.headers.authorization?.slice('Bearer '.length) ?? '';
    slack.calls.push({ method, args, team: slack.workspaces.get(bearer) });
    const fault = slack.faults.get(method)?.shift() ?? faultOf(method) ?? slack.meetCall?.({ method, args });
    if (fault?.kind === 'busy')
      return void response.writeHead(429, { 'retry-after': String(fault.retryAfterSec) }).end();
    if (fault?.kind === 'status') return void response.writeHead(fault.status).end('upstream');
    if (fault?.kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    if (fault?.kind === 'cut' && fault.when === 'before') return void response.destroy();
    if (fault?.kind === 'late') await pause(fault.afterMs, undefined, { ref: false });
    const isKnown =
      bearer === token ||
      (bearer.startsWith('xapp-') && method === 'apps.connections.open') ||
      slack.workspaces.has(bearer);
    [team, host] = [slack.workspaces.get(bearer) ?? BOT.team_id, request.headers.host ?? ''];
    const answer: Answer =
      fault?.kind === 'error'
        ? { ok: false, error: fault.error }
        : slack.tokenFault !== undefined && method !== 'auth.test'
          ? { ok: false, error: slack.tokenFault }
          : isKnown
            ? (methods[method]?.(args) ?? { ok: false, error: 'unknown_method' })
            : { ok: false, error: 'invalid_auth' };
    if (fault?.kind === 'cut' || (fault?.kind === 'late' && !fault.isAnswered)) return void response.destroy();
    if (fault?.kind === 'late') await pause(fault.answeredAfterMs ?? 0);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  return Object.assign(slack, {
    apiUrl: `http://127.0.0.1:${port}/api`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** The message in the response to a write: its text, and once more as formatted words. */
function echoOf({ ts, text, threadTs }: SlackMessage): object {
  const words = text.split(/(?<=\s)/);
  const elements = words.map((word) => ({ type: 'text', text: word, style: { bold: true, italic: false } }));
  const section = { type: 'rich_text_section', elements };
  return { ts, thread_ts: threadTs, user: BOT.user_id, text, blocks: [{ type: 'rich_text', elements: [section] }] };
}

/** Slack's error for a post or an edit that breaks its rules (PLATFORM_FACTS.md slack-web-api). */
function refusalOf(args: Record<string, unknown>): Answer | undefined {
  const { markdown_text: markdown, text, blocks } = args;
  if (textOf(args) === '') return { ok: false, error: 'no_text' };
  if (markdown !== undefined && (text !== undefined || blocks !== undefined))
    return { ok: false, error: 'markdown_text_conflict' };
  return textOf(args).length + noteOf(args).length > 13_200 ? { ok: false, error: 'msg_blocks_too_long' } : undefined;
}

function metadataOf(args: Record<string, unknown>): Pick<SlackMessage, 'metadata'> {
  return args['metadata'] === undefined ? {} : { metadata: args['metadata'] as NonNullable<SlackMessage['metadata']> };
}

/** Without `include_all_metadata` Slack returns only the type of a message's metadata. */
function shown({ ts, user, text, metadata, threadTs }: SlackMessage, args: Record<string, unknown>): object {
  const kept = metadata && (args['include_all_metadata'] === true ? metadata : { event_type: metadata.event_type });
  return {
    ts,
    user,
    bot_id: BOT.bot_id,
    text,
    ...(threadTs ? { thread_ts: threadTs } : {}),
    ...(kept ? { metadata: kept } : {}),
  };
}
