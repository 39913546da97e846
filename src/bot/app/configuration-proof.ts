import type { KeyObject } from 'node:crypto';
import { hashParts, hmacBase64Url, sameSecret } from '../../shared/crypto/ids.ts';
import { createKeyRing } from './secrets.ts';
import { PLATFORMS, type PlatformSecrets } from '../platforms/registry.ts';
import type { Config, Secrets } from '../config/config.ts';

/**
 * Origin of an answer to a nonce: a Parley with these settings, one with the same key and other settings, or something else.
 */
export type Reached = 'these settings' | 'other settings' | 'something else';
export type JudgeProof = (nonce: string, proof: string) => Reached;

/**
 * Lets `npm run check` verify that an address leads to a process with the settings that it reads. The answer reveals nothing
 * without `SECRET_KEY`.
 */
export interface ConfigurationProof {
  /** Answers a nonce with the newest key. */
  answer(nonce: string): string;
  /** Judges an answer to a nonce. Any current key counts, because the keys may be changing. */
  judge: JudgeProof;
}

const PURPOSE = 'configuration';

/** @throws RangeError without a key */
export function proofOfConfiguration(config: Config, secrets: Secrets): ConfigurationProof {
  const keyRing = createKeyRing(secrets);
  const settings = markOf(config, secrets);
  const sign = (key: KeyObject, nonce: string) =>
    `${hmacBase64Url(key, `key|${nonce}`)}.${hmacBase64Url(key, `settings|${settings}|${nonce}`)}`;
  return {
    answer: (nonce) => sign(keyRing.deriveKey(PURPOSE), nonce),
    judge(nonce, answer) {
      const expected = keyRing.deriveKeys(PURPOSE).map((key) => sign(key, nonce));
      if (expected.some((ours) => sameSecret(ours, answer))) return 'these settings';
      const [keyPart = ''] = answer.split('.');
      return expected.some((ours) => sameSecret(ours.split('.')[0] ?? '', keyPart))
        ? 'other settings'
        : 'something else';
    },
  };
}

/** Hash of the settings that all processes of a deployment share, whatever their roles and ports. */
function markOf(config: Config, secrets: Secrets): string {
  const { http, chat, signIn } = config;
  const { chatApiKey, signInClientSecret, serviceApiKeys } = secrets;
  const own = PLATFORMS.map(({ name }) => config[name]);
  const [first = [], ...others] = PLATFORMS.map((platform) =>
    Object.keys(platform.secrets).map((key) => secrets[key as keyof PlatformSecrets]),
  );
  return hashParts(
    JSON.stringify([http.publicUrl, chat.baseUrl, chat.models, chat.model, signIn, ...own]),
    JSON.stringify([chatApiKey, signInClientSecret, ...first]),
    JSON.stringify([...others.flat(), serviceApiKeys]),
  );
}
