import {
  createWecom,
  type AccessTokenStore,
  type StoredToken,
  type WecomOptions,
} from '../../../../src/bot/platforms/wecom/index.ts';
import { decryptText, encryptText, readAesKey, signText } from '../../../../src/bot/platforms/wecom/crypto.ts';
import type { WebhookResponse, Platform, RawDelivery } from '../../../../src/bot/platforms/platform.ts';
import { recordingLog } from '../../../support/redis.ts';

export const TOKEN = 'hJqcu3uJ9Tn2gXPmxx2w9kkCkCE2EPYo';
export const ENCODING_AES_KEY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
export const AES_KEY = readAesKey(ENCODING_AES_KEY);
export const NOW_SEC = 1_700_000_000;
export const NOW_MS = NOW_SEC * 1_000;

export const BOT: WecomOptions = {
  bot: { token: TOKEN, aesKey: ENCODING_AES_KEY, name: 'RobotA' },
  webhookWindowSec: 300,
  nowMs: () => NOW_MS,
  log: recordingLog().log,
  tokenStore: memoryTokens(),
  privateRate: { tryAcquire: () => Promise.resolve(true) },
};

export function wecom(options: Partial<WecomOptions> = {}): Platform {
  return createWecom({ ...BOT, tokenStore: memoryTokens(), ...options });
}

/** An in-memory token store; `kept` holds its entries. */
export function memoryTokens(): AccessTokenStore & { kept: Map<string, StoredToken> } {
  const kept = new Map<string, StoredToken>();
  return {
    kept,
    read: (key) => Promise.resolve(kept.get(key)),
    write: (key, value) => Promise.resolve(void kept.set(key, value)),
  };
}

interface Sealing {
  timestamp?: string;
  nonce?: string;
  token?: string;
  method?: 'GET' | 'POST';
}

/** A delivery as WeCom sends it, with any plain text. */
export function deliver(plain: string | object, sealing: Sealing = {}): RawDelivery {
  const { timestamp = String(NOW_SEC), nonce = '1597212914', token = TOKEN, method = 'POST' } = sealing;
  const encrypt = encryptText(AES_KEY, typeof plain === 'string' ? plain : JSON.stringify(plain));
  const query = new URLSearchParams({
    msg_signature: signText(token, { timestamp, nonce, encrypt }),
    timestamp,
    nonce,
  });
  if (method === 'GET') query.set('echostr', encrypt);
  const body = Buffer.from(method === 'GET' ? '' : JSON.stringify({ encrypt }));
  return { method, query, headers: {}, body };
}

/** The plain callback of a text message, with fields replaced or added. */
export function textCallback(content: string, extra: object = {}): object {
  return {
    msgid: 'M1',
    aibotid: 'BOT',
    chattype: 'single',
    from: { userid: 'lisi' },
    msgtype: 'text',
    text: { content },
    ...extra,
  };
}

export function groupCallback(content: string, extra: object = {}): object {
  return textCallback(content, { chattype: 'group', chatid: 'wrCHAT', ...extra });
}

/** Reads an answer as WeCom does: checks its signature, decrypts, parses. */
export function openAnswer({ body }: WebhookResponse): {
  nonce: string;
  timestamp: number;
  reply: Record<string, unknown>;
} {
  const { encrypt, msgsignature, timestamp, nonce } = JSON.parse(body) as Record<string, string> & {
    timestamp: number;
  };
  const fields = { timestamp: String(timestamp), nonce: nonce ?? '', encrypt: encrypt ?? '' };
  if (signText(TOKEN, fields) !== msgsignature) throw new Error('the answer is not signed');
  const reply = JSON.parse(decryptText(AES_KEY, fields.encrypt).toString()) as Record<string, unknown>;
  return { nonce: fields.nonce, timestamp, reply };
}
