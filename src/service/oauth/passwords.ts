import { randomBytes, scrypt, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { abortAfter } from '../../shared/abort-after.ts';
import { MIB_BYTES, MINUTE_MS } from '../../shared/clock.ts';
import { randomToken, sameSecret } from '../../shared/crypto/ids.ts';
import { runInThread } from '../../shared/process/worker-pool.ts';

const deriveScrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{22,128})$/;
const ARGON2ID = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{22,128}$/;
const PLAIN = 'plain:';
const MAKE_ONE = 'create one with npm run hash-password and paste its output here';
const ARGON2_THREAD = new URL('./argon2-thread.mjs', import.meta.url);

/** Costs as much as a hash of `hashPassword`, and matches no password. */
export const UNUSABLE_PASSWORD = `$scrypt$ln=14,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** With higher costs one login could take seconds or exhaust memory. */
const MAX_LN = 17;
const MAX_SCRYPT_BYTES = 256 * MIB_BYTES;
const MAX_ARGON2_KIB = 256 * 1_024;
const MAX_ARGON2_PASSES = 10;

/** Why a stored password string is invalid; undefined if it can be verified. Never includes the string itself. */
export function passwordFault(stored: string, allowPlain: boolean): string | undefined {
  if (stored.startsWith(PLAIN)) return allowPlain ? undefined : `plain: passwords work in local mode only: ${MAKE_ONE}`;
  const [, ln, r, p] = SCRYPT.exec(stored) ?? [];
  if (ln !== undefined) {
    const isTooCostly = Number(ln) > MAX_LN || 128 * 2 ** Number(ln) * Number(r) > MAX_SCRYPT_BYTES || Number(p) > 16;
    return isTooCostly || Number(ln) < 1 || Number(r) < 1 || Number(p) < 1
      ? `The scrypt cost is out of range (ln 1 to ${MAX_LN}, p at most 16)`
      : undefined;
  }
  const [, m, t] = ARGON2ID.exec(stored) ?? [];
  if (m === undefined) return `Is not a supported password string: ${MAKE_ONE}`;
  return Number(m) > MAX_ARGON2_KIB || Number(t) > MAX_ARGON2_PASSES
    ? 'The argon2id cost is out of range (m at most 262144, t at most 10)'
    : undefined;
}

/** Whether a password matches the stored string. A malformed string matches nothing. */
export async function verifyPassword(typed: string, stored: string): Promise<boolean> {
  if (stored.startsWith(PLAIN)) return sameSecret(typed, stored.slice(PLAIN.length));
  if (passwordFault(stored, false) !== undefined) return false;
  if (stored.startsWith('$argon2id$')) {
    const options = { purpose: 'password', signal: abortAfter(MINUTE_MS) } as const;
    // The library throws for an empty password.
    return typed !== '' && runInThread<boolean>(ARGON2_THREAD, { typed, stored }, options);
  }
  const [, ln, r, p, salt = '', hash = ''] = SCRYPT.exec(stored) ?? [];
  const expected = Buffer.from(hash, 'base64');
  const derived = await derive(typed, Buffer.from(salt, 'base64'), {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    bytes: expected.length,
  });
  return sameSecret(derived.toString('hex'), expected.toString('hex'));
}

/** A stored string with the comparison cost of the given one that matches no password. */
export function unmatchableHashLike(stored: string): string {
  if (stored.startsWith(PLAIN)) return `${PLAIN}${randomToken()}`;
  const parts = stored.split('$');
  const [salt = '', hash = ''] = parts.slice(-2);
  return [...parts.slice(0, -2), 'A'.repeat(salt.length), 'A'.repeat(hash.length)].join('$');
}

interface ScryptCost {
  ln: number;
  r: number;
  p: number;
  bytes: number;
}

function derive(typed: string, salt: Buffer, { ln, r, p, bytes }: ScryptCost): Promise<Buffer> {
  return deriveScrypt(typed, salt, bytes, { N: 2 ** ln, r, p, maxmem: 2 * MAX_SCRYPT_BYTES });
}

/**
 * Returns a PHC string for a new password: scrypt, N = 2^14, r = 8, p = 1, 16 bytes of salt, 32 of hash, base64 without
 * padding.
 */
export async function hashPassword(typed: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(typed, salt, { ln: 14, r: 8, p: 1, bytes: 32 });
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/(?<!=)=+$/, '');
  return `$scrypt$ln=14,r=8,p=1$${encode(salt)}$${encode(hash)}`;
}
