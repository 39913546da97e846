import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { randomToken } from '../../../shared/crypto/ids.ts';
import { LocalError } from './local-error.ts';
import { parseJson } from '../../../shared/parse-json.ts';

const FILE_NAME = 'keys.json';
const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** WeCom's EncodingAESKey: 43 letters and digits, which followed by `=` are 32 bytes in base64. */
const AES_KEY_CHARS = 43;
const BOT_TOKEN_CHARS = 24;
const SECRET_KEY_BYTES = 32;
const SLACK_SECRET_BYTES = 16;
const SLACK_TOKEN_CHARS = 40;

const keysSchema = z.object({
  secretKey: z.base64(),
  serviceApiKey: z.string().min(1),
  signInClientSecret: z.string().min(1),
  wecomBotToken: z.string().min(1),
  wecomBotAesKey: z.string().length(AES_KEY_CHARS),
  wecomAgentSecret: z.string().min(1),
  wecomBotSecret: z.string().min(1),
  slackSigningSecret: z.string().min(1),
  slackBotToken: z.string().min(1),
  slackClientSecret: z.string().min(1),
  slackAppToken: z.string().min(1),
});
/** Files of earlier versions lack these keys; they are added. */
const keptSchema = keysSchema.partial({
  wecomBotSecret: true,
  slackSigningSecret: true,
  slackBotToken: true,
  slackClientSecret: true,
  slackAppToken: true,
});

/** Credentials for calls between the parts of local mode. */
export type LocalKeys = z.infer<typeof keysSchema>;

/**
 * Reads the keys of an earlier start, or generates and stores them. The file is readable by its owner only (mode 0600).
 * Without its secret key all encrypted data would be lost, so that an unreadable file is never overwritten.
 * @throws LocalError `local_keys_broken`
 */
export function loadOrCreateLocalKeys(dataDir: string): LocalKeys {
  const path = join(dataDir, FILE_NAME);
  const kept = existsSync(path) ? readKeys(path) : undefined;
  const complete = keysSchema.safeParse(kept);
  if (complete.success) return complete.data;
  const keys = { ...makeKeys(), ...kept };
  const half = `${path}.new`;
  writeFileSync(half, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  renameSync(half, path);
  return keys;
}

/** The keys of an earlier start, if they exist and are complete. @throws LocalError `local_keys_broken` */
export function findLocalKeys(dataDir: string): LocalKeys | undefined {
  const path = join(dataDir, FILE_NAME);
  return existsSync(path) ? keysSchema.safeParse(readKeys(path)).data : undefined;
}

function readKeys(path: string): z.infer<typeof keptSchema> {
  const read = keptSchema.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (read.success) return read.data;
  throw new LocalError(
    'local_keys_broken',
    `${path} cannot be read: restore it, or delete its folder to start with empty data`,
  );
}

function makeKeys(): LocalKeys {
  return {
    secretKey: randomBytes(SECRET_KEY_BYTES).toString('base64'),
    serviceApiKey: `sk-parley-${randomToken(24)}`,
    signInClientSecret: randomToken(),
    wecomBotToken: randomText(BOT_TOKEN_CHARS),
    wecomBotAesKey: randomText(AES_KEY_CHARS),
    wecomAgentSecret: randomToken(),
    wecomBotSecret: randomToken(),
    slackSigningSecret: randomBytes(SLACK_SECRET_BYTES).toString('hex'),
    slackBotToken: `xoxb-${randomText(SLACK_TOKEN_CHARS)}`,
    slackClientSecret: randomToken(),
    slackAppToken: `xapp-${randomText(SLACK_TOKEN_CHARS)}`,
  };
}

function randomText(chars: number): string {
  return Array.from({ length: chars }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join('');
}
