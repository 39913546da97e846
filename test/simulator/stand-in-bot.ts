import { listen } from '../../src/shared/http/http-server.ts';
import { decodeAesKey, isSignedBy, openMessage, sealMessage, signParts } from '../../src/simulator/wecom/crypto.ts';

export const TOKEN = 'tokenForTests';
export const AES_KEY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const KEY = decodeAesKey(AES_KEY);

/** A decrypted callback. */
export interface Callback {
  msgid: string;
  aibotid: string;
  chattype: string;
  chatid?: string;
  from: { userid: string };
  response_url?: string;
  msgtype: string;
  text?: { content: string };
  image?: { url: string };
  mixed?: { msg_item: { msgtype: string; text?: { content: string }; image?: { url: string } }[] };
  stream?: { id: string };
  event?: {
    eventtype: string;
    feedback_event?: { id: string; type: number };
    template_card_event?: Record<string, unknown>;
  };
  quote?: { msgtype: string; text?: { content: string } };
}

/** A scripted response: a reply to encrypt, nothing, a bare status, raw text, or no response at all. */
export type Scripted = object | undefined | { status: number } | { raw: string } | 'hang';

export interface StandInBot {
  url: string;
  callbacks: Callback[];
  /** Decides the answer to each callback; a test may replace it. */
  script: (callback: Callback) => Scripted;
  /** Messages and events, without the polls. */
  messages(): Callback[];
  close(): Promise<void>;
}

export const stream = (id: string, content: string, finish = false, more: object = {}) => ({
  msgtype: 'stream',
  stream: { id, content, finish, ...more },
});

/** A minimal bot over real HTTP: it verifies, decrypts, and answers as scripted by the test. */
export async function startStandInBot(port = 0): Promise<StandInBot> {
  const callbacks: Callback[] = [];
  const bot: Omit<StandInBot, 'url' | 'close'> = {
    callbacks,
    script: () => undefined,
    messages: () => callbacks.filter(({ msgtype }) => msgtype !== 'stream'),
  };
  const server = await listen(
    (request, response) => {
      const url = new URL(request.url ?? '/', 'http://bot');
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { timestamp, nonce, msg_signature: signature, echostr } = Object.fromEntries(url.searchParams);
        const body = Buffer.concat(chunks).toString();
        const encrypt = echostr ?? (JSON.parse(body) as { encrypt: string }).encrypt;
        const parts = { token: TOKEN, timestamp: timestamp ?? '', nonce: nonce ?? '', encrypt };
        if (!isSignedBy(parts, signature ?? '')) return void response.writeHead(401).end();
        const plain = openMessage(KEY, encrypt);
        if (echostr !== undefined) return void response.end(plain);
        const callback = JSON.parse(plain) as Callback;
        callbacks.push(callback);
        answer(bot.script(callback), parts);
      });
      const answer = (scripted: Scripted, { timestamp, nonce }: { timestamp: string; nonce: string }) => {
        if (scripted === 'hang') return;
        if (scripted === undefined) return void response.end();
        if ('status' in scripted) return void response.writeHead(scripted.status).end();
        if ('raw' in scripted) return void response.end(scripted.raw);
        const encrypt = sealMessage(KEY, JSON.stringify(scripted));
        const msgsignature = signParts({ token: TOKEN, timestamp, nonce, encrypt });
        response.end(JSON.stringify({ encrypt, msgsignature, timestamp: Number(timestamp), nonce }));
      };
    },
    port,
    '127.0.0.1',
  );
  return Object.assign(bot, { url: server.url, close: () => server.close() });
}
