import { decodeAesKey, openMessage, sealMessage, signParts } from '../src/simulator/wecom/crypto.ts';

export interface WecomCredentials {
  token: string;
  aesKey: string;
}

/** The bot's response to a message or a poll, as far as WeCom's app shows it. */
export interface StreamAnswer {
  stream?: { id: string; finish: boolean; content: string };
}

let nonces = 0;

/**
 * Sends one callback to a receiver as WeCom does, encrypted and signed, with crypto code that is independent of the bot's.
 * @returns the status and the decrypted response. @throws any connection error, and on timeout
 */
export async function sendCallback(
  url: string,
  message: object,
  { token, aesKey, moreHeaders, limitMs }: WecomCredentials & { moreHeaders: Record<string, string>; limitMs: number },
): Promise<{ status: number; answer: StreamAnswer | undefined }> {
  const key = decodeAesKey(aesKey);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  nonces += 1;
  const nonce = String(nonces);
  const encrypt = sealMessage(key, JSON.stringify(message));
  const signature = signParts({ token, timestamp, nonce, encrypt });
  const response = await fetch(
    `${url}/webhooks/wecom?msg_signature=${signature}&timestamp=${timestamp}&nonce=${nonce}`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...moreHeaders },
      body: JSON.stringify({ encrypt }),
      signal: AbortSignal.timeout(limitMs),
    },
  );
  const body = await response.text();
  if (response.status !== 200 || body === '') return { status: response.status, answer: undefined };
  const sealed = (JSON.parse(body) as { encrypt: string }).encrypt;
  return { status: 200, answer: JSON.parse(openMessage(key, sealed)) as StreamAnswer };
}
