import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/** One frame as sent by the bot. */
export interface SentFrame {
  /** Number of the connection, from 1. */
  connection: number;
  cmd: string;
  reqId: string;
  body: Record<string, unknown>;
  atMs: number;
}

/** The response to a frame: an errcode, optionally after a pause, or none. */
export type FrameVerdict = number | 'silent' | { errcode: number; afterMs: number };

export interface RawConnections {
  readonly url: string;
  readonly frames: SentFrame[];
  /** Number of subscriptions so far, and whether a connection is subscribed now. */
  readonly subscribed: number;
  readonly isSubscribed: boolean;
  /** The connection that is subscribed now. */
  readonly newest: number | undefined;
  /** End time of each subscribed connection, in milliseconds of the test's clock. */
  readonly ends: ReadonlyMap<number, number>;
  /** Subscription time of each connection. */
  readonly subscriptions: ReadonlyMap<number, number>;
  /** The response to each frame. Defaults to 0. Tests may replace it. */
  judge(frame: SentFrame): FrameVerdict;
  /** Sends a message of a person over the newest connection. @returns the request's id */
  say(text: string, more?: Saying): string;
  event(event: object, more?: Saying): string;
  cut(): void;
  /** The stream frames of a request, and pushes. */
  shown(reqId: string): { streamId: string; content: string; finish: boolean; connection: number }[];
  pushes(): { chatid: string; content: string }[];
  stop(): Promise<void>;
}

interface Saying {
  msgid?: string;
  reqId?: string;
  userId?: string;
  chatId?: string;
  body?: object;
}

/** A bare server of WeCom connections: it sends the frames of the test, without any display. */
export async function startRawConnections(): Promise<RawConnections> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server = new WebSocketServer({ server: http });
  const frames: SentFrame[] = [];
  let opened = 0;
  let count = 0;
  let newest: { socket: WebSocket; connection: number } | undefined;
  const ends = new Map<number, number>();
  const subscriptions = new Map<number, number>();
  const send = (socket: WebSocket, frame: object) => socket.send(JSON.stringify(frame));
  server.on('connection', (socket) => {
    const connection = (opened += 1);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      ends.set(connection, Date.now());
      if (newest?.socket === socket) newest = undefined;
    });
    socket.on('message', (data: Buffer) => {
      const {
        cmd,
        headers,
        body = {},
      } = JSON.parse(data.toString('utf8')) as {
        cmd: string;
        headers: { req_id: string };
        body?: Record<string, unknown>;
      };
      const frame = { connection, cmd, reqId: headers.req_id, body, atMs: performance.now() };
      if (cmd !== 'ping') frames.push(frame);
      const verdict = raw.judge(frame);
      if (cmd === 'aibot_subscribe' && verdict === 0) {
        const before = newest?.socket;
        if (before && before !== socket) {
          send(before, {
            cmd: 'aibot_event_callback',
            headers: { req_id: 'kick' },
            body: { msgtype: 'event', from: { userid: 'sys' }, event: { eventtype: 'disconnected_event' } },
          });
          // Reported at once, closed later.
          setTimeout(() => before.terminate(), 1_000);
        }
        newest = { socket, connection };
        subscriptions.set(connection, Date.now());
        count += 1;
      }
      if (verdict === 'silent') return;
      const { errcode, afterMs } = typeof verdict === 'number' ? { errcode: verdict, afterMs: 0 } : verdict;
      const given = errcode === 0 ? givenFor(cmd, body) : undefined;
      const answer = { headers: { req_id: headers.req_id }, errcode, errmsg: errcode === 0 ? 'ok' : 'no', body: given };
      if (afterMs === 0) send(socket, answer);
      else setTimeout(() => send(socket, answer), afterMs);
    });
  });
  /** Uploads and files are numbered in order. */
  let uploads = 0;
  const givenFor = (cmd: string, { upload_id }: Record<string, unknown>) => {
    if (cmd === 'aibot_upload_media_init') return { upload_id: `UPLOAD-${(uploads += 1)}` };
    if (cmd !== 'aibot_upload_media_finish') return undefined;
    return { type: 'file', media_id: String(upload_id).replace('UPLOAD', 'MEDIA'), created_at: 1_700_000_000 };
  };
  let next = 0;
  const call = (cmd: string, body: object, { msgid, reqId, userId = 'zhangwei', chatId }: Saying) => {
    next += 1;
    const request = reqId ?? `REQ-${next}`;
    if (!newest) throw new Error('Nobody is subscribed');
    const chat = chatId === undefined ? { chattype: 'single' } : { chattype: 'group', chatid: chatId };
    const common = { msgid: msgid ?? `M-${next}`, aibotid: 'aibot-test', ...chat, from: { userid: userId } };
    send(newest.socket, { cmd, headers: { req_id: request }, body: { ...common, ...body } });
    return request;
  };
  const streams = (reqId: string) =>
    frames.filter(({ cmd, reqId: own, body }) => cmd === 'aibot_respond_msg' && own === reqId && 'stream' in body);
  const raw: RawConnections = {
    url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`,
    frames,
    get subscribed() {
      return count;
    },
    get isSubscribed() {
      return newest !== undefined;
    },
    get newest() {
      return newest?.connection;
    },
    ends,
    subscriptions,
    judge: () => 0,
    say: (text, more = {}) =>
      call('aibot_msg_callback', { msgtype: 'text', text: { content: text }, ...more.body }, more),
    event: (event, more = {}) => call('aibot_event_callback', { msgtype: 'event', event, ...more.body }, more),
    cut() {
      for (const client of server.clients) client.terminate();
    },
    shown: (reqId) =>
      streams(reqId).map(({ body, connection }) => {
        const { id, content, finish } = body['stream'] as { id: string; content: string; finish: boolean };
        return { streamId: id, content, finish, connection };
      }),
    pushes: () =>
      frames
        .filter(({ cmd }) => cmd === 'aibot_send_msg')
        .map(({ body }) => ({
          chatid: String(body['chatid']),
          content: (body['markdown'] as { content: string }).content,
        })),
    async stop() {
      for (const client of server.clients) client.terminate();
      server.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return raw;
}

/** The secret of another program that connects as the same bot, to distinguish its frames. */
export const RIVAL_SECRET = 'another program';

export interface Rival {
  /** Number of its connections. */
  readonly visits: number;
  leave(): void;
}

/** Another program that connects as the same bot. @param isStubborn whether it reconnects whenever it is replaced */
export async function startRival(url: string, isStubborn = false): Promise<Rival> {
  let visits = 0;
  let hasLeft = false;
  let socket: WebSocket;
  const connect = async () => {
    const own = new WebSocket(url);
    socket = own;
    own.on('error', () => undefined);
    await new Promise((resolve) => own.once('open', resolve));
    const body = { bot_id: 'aibot-test', secret: RIVAL_SECRET };
    own.send(JSON.stringify({ cmd: 'aibot_subscribe', headers: { req_id: `rival-${visits}` }, body }));
    visits += 1;
    await new Promise((resolve) => own.once('message', resolve));
    own.on('message', (data: Buffer) => {
      if (!data.toString('utf8').includes('disconnected_event')) return;
      own.terminate();
      if (isStubborn && !hasLeft) void connect();
    });
  };
  await connect();
  return {
    get visits() {
      return visits;
    },
    leave() {
      hasLeft = true;
      socket.terminate();
    },
  };
}
