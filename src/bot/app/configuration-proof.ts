import { hashParts, hmacBase64Url, sameSecret } from '../../shared/crypto/ids.ts';
import { createKeyRing } from './secrets.ts';
import { PLATFORMS, type PlatformSecrets } from '../platforms/registry.ts';
import type { Config, Secrets } from '../config/config.ts';

/** Whose answer to a nonce it is: of a Parley with these settings, of one with the same key and others, or of something else. */
export type Reached = 'these settings' | 'other settings' | 'something else';
export type JudgeProof = (nonce: string, proof: string) => Reached;

/**
 * By this `npm run check` knows that an address leads to a process that was started with the settings it reads, and not to
 * whatever else answers there. What is answered tells nothing to whoever does not have `SECRET_KEY`.
 */
export interface ConfigurationProof {
  /** The answer to a nonce, by the newest key. */
  answer(nonce: string): string;
  /** Whose answer to this nonce it is; any of our keys counts, as while they are changed. */
  judge: JudgeProof;
}

const PURPOSE = 'configuration';

/** @throws RangeError without any key */
export function proofOfConfiguration(config: Config, secrets: Secrets): ConfigurationProof {
  const keyRing = createKeyRing(secrets);
  const settings = markOf(config, secrets);
  const sign = (key: Buffer, nonce: string) =>
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

/** What all processes of a deployment have in common, whatever their roles and ports are. */
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
