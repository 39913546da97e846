import { got } from 'got';
import { decodeAesKey, openMessage, sealMessage, signParts } from '../../src/simulator/wecom/crypto.ts';
import { registerSecret } from './evidence/evidence.ts';
import { registerText } from './evidence/harvest.ts';

/** Sends callbacks like WeCom, with every part open to change; its encryption is implemented separately from the bot's. */
export interface WecomSender {
  /** @returns the status, and the decrypted answer if there is one */
  send(message: unknown, change?: SendChange): Promise<{ status: number; body: string; answer: unknown }>;
}

export interface SendChange {
  /** Replaces the request's body after signing. */
  body?: string | Buffer;
  signature?: string;
  timestampSec?: number;
  headers?: Record<string, string>;
  /** Signs this text unchanged instead of the message's JSON. */
  plain?: string | Buffer;
  search?: string;
}

export function createWecomSender({
  botUrl,
  token,
  aesKey,
}: {
  botUrl: string;
  token: string;
  aesKey: string;
}): WecomSender {
  const key = decodeAesKey(aesKey);
  registerSecret('key', aesKey);
  registerSecret('key', token);
  return {
    async send(message, change = {}) {
      registerText((message as { text?: { content?: string } } | null)?.text?.content ?? '');
      const timestamp = String(change.timestampSec ?? Math.floor(Date.now() / 1000));
      const nonce = String(Math.floor(Math.random() * 1e9));
      const encrypt = sealMessage(key, (change.plain ?? JSON.stringify(message)) as string);
      const signature = change.signature ?? signParts({ token, timestamp, nonce, encrypt });
      const search = change.search ?? `?msg_signature=${signature}&timestamp=${timestamp}&nonce=${nonce}`;
      const response = await got.post(`${botUrl}/webhooks/wecom${search}`, {
        body: change.body ?? JSON.stringify({ encrypt }),
        headers: { 'content-type': 'application/json', ...change.headers },
        throwHttpErrors: false,
        retry: { limit: 0 },
        timeout: { request: 10_000 },
        decompress: false,
      });
      return { status: response.statusCode, body: response.body, answer: decrypted(key, response.body) };
    },
  };
}

function decrypted(key: Buffer, body: string): unknown {
  try {
    return JSON.parse(openMessage(key, (JSON.parse(body) as { encrypt: string }).encrypt));
  } catch {
    return undefined;
  }
}

let count = 0;

/** A private text message in WeCom's format. */
export function wecomText(text: string, userid = 'zhangwei'): Record<string, unknown> {
  count += 1;
  return {
    msgid: `msg-${Date.now()}-${count}`,
    aibotid: 'aibot-test',
    chattype: 'single',
    from: { userid },
    msgtype: 'text',
    text: { content: text },
  };
}
