import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { listen } from '../../../src/shared/http/http-server.ts';
import type { EngineSearch } from '../../../src/simulator/local-controls.ts';
import {
  SHOWN_MESSAGES,
  type Bootstrap,
  type ConversationView,
  type FrameRequest,
  type FrameView,
  type MessageView,
  type MessengerEvent,
  type SendRequest,
} from '../../../src/simulator/api.ts';

const PAGE = new URL('../../../src/simulator/web/', import.meta.url);
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
const BEAT_MS = 500;
const TINY_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Calls of the page to the server, in order. */
export interface SeenCall {
  method: string;
  path: string;
  body: unknown;
}

/** A server that implements `api.ts` as scripted by the test. */
export interface PageServer {
  url: string;
  calls: SeenCall[];
  /** Opened frames, in order. */
  frames: FrameView[];
  /** Messages by conversation, as returned by the next fetch. */
  messages: Map<string, MessageView[]>;
  /** Stores a message and sends it to every open page. */
  show(message: MessageView): void;
  emit(event: MessengerEvent): void;
  /** Freezes the server: it keeps its connections and answers nothing. */
  standStill(still: boolean): void;
  /** Ends every event stream, like a restart. */
  dropStreams(): void;
  /** Makes the bot refuse presses, and the server refuse edits. */
  refuseChanges(isRefused: boolean): void;
  /** The engines that the page finds from now on, and the searched ports if they differ from those of the start. */
  findEngines(found: EngineSearch['engines'], at?: EngineSearch['ports']): void;
  /** The next sends are refused with this status and error. */
  refuseSends(refusal: { status: number; code: string; message: string } | undefined): void;
  close(): Promise<void>;
}

export interface PageServerOptions {
  bootstrap: Bootstrap;
  conversations: ConversationView[];
}

/** Bundles the page like the build and serves it on a free port. */
export async function startPageServer({ bootstrap, conversations }: PageServerOptions): Promise<PageServer> {
  const bundled = await build({
    entryPoints: {
      main: fileURLToPath(new URL('main.tsx', PAGE)),
      page: fileURLToPath(new URL('page.css', PAGE)),
      katex: 'katex/dist/katex.css',
    },
    loader: { '.woff2': 'file', '.woff': 'empty', '.ttf': 'empty' },
    bundle: true,
    write: false,
    outdir: 'page',
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const built = new Map(bundled.outputFiles.map(({ path, contents }) => [`/${basename(path)}`, contents]));
  const calls: SeenCall[] = [];
  const frames: FrameView[] = [];
  const messages = new Map<string, MessageView[]>(conversations.map(({ id }) => [id, []]));
  const streams = new Set<ServerResponse>();
  let refusal: { status: number; code: string; message: string } | undefined;
  let areChangesRefused = false;
  const ports = [
    { port: 11434, engine: 'Ollama', isOurs: false },
    { port: 8080, engine: 'llama.cpp', isOurs: true },
  ];
  let engines: EngineSearch = { engines: [], ports };
  let nextId = 0;
  let standing = false;
  const waiting: (() => void)[] = [];
  const beating = setInterval(() => {
    if (!standing) streams.forEach((stream) => stream.write('event: beat\ndata: {}\n\n'));
  }, BEAT_MS);

  const standStill = (still: boolean) => {
    standing = still;
    if (!still) waiting.splice(0).forEach((goOn) => goOn());
  };
  const emit = ({ name, data }: MessengerEvent) =>
    streams.forEach((stream) => stream.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`));
  const show = (message: MessageView) => {
    const kept = messages.get(message.conversationId) ?? [];
    messages.set(message.conversationId, [...kept.filter(({ id }) => id !== message.id), message]);
    emit({ name: 'message', data: message });
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const file = built.get(path);
    if (file !== undefined)
      return void response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? '' }).end(file);
    if (path.startsWith('/images/')) return void response.writeHead(200, { 'content-type': 'image/png' }).end(TINY_PNG);
    if (path === '/frame') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>A page</p>');
    if (!path.startsWith('/api/')) return serveFile(path, response);
    if (standing) await new Promise<void>((resolve) => waiting.push(resolve));
    if (path.endsWith('/events')) return follow(response);
    const body = await readBody(request);
    if (request.method !== 'GET') calls.push({ method: request.method ?? '', path, body });
    if (path === '/api/bootstrap') return void json(200, bootstrap);
    if (path.endsWith('/conversations')) return void json(200, conversations);
    if (path === '/api/uploads') return void json(201, { id: `image-${(nextId += 1)}`, url: `/images/${nextId}` });
    if (path === '/api/frames') return void json(201, frameOf(body as FrameRequest));
    if (path === '/api/local/model') return void json(...modelAnswer(request.method ?? '', body));
    if (path === '/api/local/engines') return void json(200, engines);
    if (path === '/api/local/worker/kill') return void json(202, { killedProcessId: 4711, killedAtMs: Date.now() });
    if (areChangesRefused && /\/(press|edit)$/.test(path)) return void json(502, { error: { code: 'not_taken' } });
    if (!path.endsWith('/messages')) return void response.writeHead(204).end();
    const conversationId = decodeURIComponent(path.split('/')[3] ?? '');
    if (request.method === 'GET')
      return void json(200, shownOf(conversationId, new URL(request.url ?? '', 'http://page')));
    if (refusal) return void json(refusal.status, { error: { code: refusal.code, message: refusal.message } });
    const sent = sentView(conversationId, body as SendRequest);
    json(202, sent);
    show({ ...sent, state: 'sent' });
  }

  function shownOf(conversationId: string, { searchParams }: URL): MessageView[] {
    const all = messages.get(conversationId) ?? [];
    const before = all.findIndex(({ id }) => id === searchParams.get('before'));
    const end = before < 0 ? all.length : before;
    return all.slice(Math.max(0, end - SHOWN_MESSAGES), end);
  }

  function sentView(conversationId: string, { person, text, images, clientId = '' }: SendRequest): MessageView {
    const senderName = bootstrap.people.find(({ id }) => id === person)?.name ?? person;
    const shown = images.map((id) => ({ url: `/images/${id}`, alt: 'Image' }));
    const id = `sent-${(nextId += 1)}`;
    const known = { id, clientId, conversationId, sender: person, senderName };
    return { ...known, state: 'sending', text, images: shown, atMs: Date.now() };
  }

  function frameOf({ url }: FrameRequest): FrameView {
    const frame = { id: `frame-${(nextId += 1)}`, frameUrl: '/frame', host: new URL(url).host };
    frames.push(frame);
    return frame;
  }

  function follow(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('event: hello\ndata: {"resumed":false}\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  }

  const server = await listen(
    (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
    0,
    '127.0.0.1',
  );
  return {
    url: server.url,
    calls,
    frames,
    messages,
    show,
    emit,
    dropStreams: () => streams.forEach((stream) => stream.end()),
    findEngines: (found, at = ports) => (engines = { engines: found, ports: at }),
    refuseSends: (next) => (refusal = next),
    refuseChanges: (isRefused) => (areChangesRefused = isRefused),
    standStill,
    async close() {
      standStill(false);
      clearInterval(beating);
      await server.close();
    },
  };
}

/** The model of local mode: the built-in one until a valid address is given. */
function modelAnswer(method: string, body: unknown): [status: number, body: object] {
  const { address = '' } = (body ?? {}) as { address?: string };
  if (method !== 'POST') return [200, { kind: 'built-in' }];
  if (address.includes('gone')) return [422, { fault: { code: 'unreachable', detail: 'ECONNREFUSED' } }];
  if (address.includes('wrong')) return [422, { fault: { code: 'key', detail: '401' } }];
  return [200, { kind: 'own', host: new URL(address).host, model: 'big-1' }];
}

async function serveFile(path: string, response: ServerResponse): Promise<void> {
  const name = path === '/' ? 'index.html' : path.slice(1);
  const type = TYPES[extname(name)];
  const url = new URL(name, PAGE);
  const bytes = type && /^[\w.-]+$/.test(name) ? await readFile(url, 'utf8') : undefined;
  if (bytes === undefined) response.writeHead(404).end();
  // The content policy of the real server, so that the page must not need anything that it forbids.
  else
    response
      .writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': "default-src 'self'" })
      .end(bytes);
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (!(request.headers['content-type'] ?? '').includes('json')) return bytes.length;
  return JSON.parse(bytes.toString('utf8')) as unknown;
}
