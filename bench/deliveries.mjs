import { decodeAesKey, sealMessage, signParts } from '../dist-modules/simulator/wecom/crypto.js';

let made = 0;

/** Signed, encrypted WeCom text messages, each from another person; created before the measurement starts. */
export function makeDeliveries({ token, aesKey, count }) {
  const key = decodeAesKey(aesKey);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  return Array.from({ length: count }, () => {
    made += 1;
    const message = {
      msgid: `bench-${process.pid}-${made}`,
      aibotid: 'aibot-bench',
      chattype: 'single',
      from: { userid: `person-${made}` },
      msgtype: 'text',
      text: { content: 'What are the opening hours of the library?' },
    };
    const encrypt = sealMessage(key, JSON.stringify(message));
    const nonce = String(made);
    const signature = signParts({ token, timestamp, nonce, encrypt });
    return {
      search: `?msg_signature=${signature}&timestamp=${timestamp}&nonce=${nonce}`,
      body: JSON.stringify({ encrypt }),
    };
  });
}
