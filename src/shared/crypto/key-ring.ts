import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { hmacHex, sha256Hex } from './ids.ts';
import { CodedError } from '../coded-error.ts';
import { freshBytes } from './random-pool.ts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES };
const KEY_BYTES = 32;
const PSEUDONYM_DIGITS = 32;
/** As `seal` and `sealRecord` write it, up to and with the id of the key. */
const SEALED_FORM = /^[sv]1\.([0-9a-f]{8})\./;

/** Thrown when a sealed value cannot be opened: its key is gone, or it was altered or moved to another owner. */
export class SealError extends CodedError<'seal_unknown_key' | 'seal_broken'> {
  /** The key that is lacking; empty for what is broken. */
  readonly keyId: string;

  constructor(code: SealError['code'], message: string, keyId = '') {
    super(code, message);
    this.keyId = keyId;
  }
}

interface RingKey {
  id: string;
  key: Buffer;
}

/**
 * The keys that encrypt what Parley keeps (SECURITY.md sealed-records, key-rotation): the newest writes, all read.
 * Values are bound to their purpose and owner by the additional data, so that a value copied elsewhere does not open.
 */
export class KeyRing {
  readonly #keys: RingKey[];
  readonly #derived = new Map<string, Buffer>();

  /** @param keys 32 bytes each, the newest first. */
  constructor(keys: Buffer[]) {
    if (keys.length === 0 || keys.some((key) => key.length !== KEY_BYTES)) {
      throw new RangeError('A key ring needs at least one key of exactly 32 bytes');
    }
    this.#keys = keys.map((key) => ({ id: sha256Hex(`parley-kek|${key.toString('hex')}`).slice(0, 8), key }));
  }

  /** The id of the key that writes. */
  get currentKeyId(): string {
    return this.#newest().id;
  }

  /** The ids of all keys, the newest first, for the metric of SECURITY.md key-rotation. */
  get keyIds(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** Whether a value is sealed with a key that is not in this ring; what has no sealed value's form is broken, and lacks no key. */
  lacksKeyOf(sealed: string): boolean {
    const [, keyId] = SEALED_FORM.exec(sealed) ?? [];
    return keyId !== undefined && !this.keyIds.includes(keyId);
  }

  /** A key for one purpose (CSRF tokens, log pseudonyms), derived from the newest key; 32 bytes. */
  deriveKey(purpose: string): Buffer {
    return this.#derive(this.#newest(), purpose);
  }

  /**
   * The name under which a key in Redis counts something of a person, a chat or an address: a keyed hash, since whoever reads keys
   * could try all ids under a plain one. For what lives shortly only: it changes with the ring's newest key.
   */
  pseudonym(purpose: string, id: string): string {
    return hmacHex(this.deriveKey(purpose), id).slice(0, PSEUDONYM_DIGITS);
  }

  /** The same key derived from every key of the ring, the newest first: what an older one signed still counts. */
  deriveKeys(purpose: string): Buffer[] {
    return this.#keys.map((ringKey) => this.#derive(ringKey, purpose));
  }

  /**
   * Seals conversation content: `s1.<keyId>.<base64url of iv, ciphertext and tag>`.
   * @param owner what the value belongs to (a conversation, a stream); opening with another owner fails
   */
  seal(purpose: string, owner: string, plain: string): string {
    const ringKey = this.#newest();
    return `s1.${ringKey.id}.${encrypt(this.#derive(ringKey, purpose), `${purpose}|${owner}`, Buffer.from(plain)).toString('base64url')}`;
  }

  /** Opens what `seal` made; what a script noted behind a further dot is no part of it. @throws SealError */
  open(purpose: string, owner: string, sealed: string): string {
    const [version, keyId, body] = sealed.split('.');
    if (version !== 's1' || keyId === undefined || body === undefined) throw broken();
    const key = this.#derive(this.#find(keyId), purpose);
    return decrypt(key, `${purpose}|${owner}`, Buffer.from(body, 'base64url')).toString('utf8');
  }

  /**
   * Seals a token or profile record with a data key of its own, wrapped by the ring's newest key:
   * `v1.<kekId>.<wrappedDek>.<iv>.<ciphertext>.<tag>` (SECURITY.md sealed-records).
   * @param ownerFields the record's owner (platform, tenant, …), length-prefixed into the additional data
   */
  sealRecord(ownerFields: string[], plain: string): string {
    const ringKey = this.#newest();
    const additional = additionalData(ownerFields);
    const dataKey = randomBytes(KEY_BYTES);
    const wrapped = encrypt(ringKey.key, additional, dataKey);
    const sealed = encrypt(dataKey, additional, Buffer.from(plain));
    const parts = [
      wrapped,
      sealed.subarray(0, IV_BYTES),
      sealed.subarray(IV_BYTES, -TAG_BYTES),
      sealed.subarray(-TAG_BYTES),
    ];
    return ['v1', ringKey.id, ...parts.map((part) => part.toString('base64url'))].join('.');
  }

  /** Opens what `sealRecord` made. @throws SealError */
  openRecord(ownerFields: string[], sealed: string): string {
    const [version, keyId, ...parts] = sealed.split('.');
    if (version !== 'v1' || keyId === undefined || parts.length !== 4) throw broken();
    const [wrapped, iv, ciphertext, tag] = parts.map((part) => Buffer.from(part, 'base64url')) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) throw broken();
    const additional = additionalData(ownerFields);
    const dataKey = decrypt(this.#find(keyId).key, additional, wrapped);
    return decrypt(dataKey, additional, Buffer.concat([iv, ciphertext, tag])).toString('utf8');
  }

  /**
   * The same record with its data key wrapped by the newest key (SECURITY.md key-rotation); unchanged when it is already.
   * @throws SealError
   */
  rewrapRecord(ownerFields: string[], sealed: string): string {
    const [version, keyId, wrapped, ...content] = sealed.split('.');
    if (keyId === this.currentKeyId) return sealed;
    if (version !== 'v1' || keyId === undefined || wrapped === undefined || content.length !== 3) throw broken();
    const additional = additionalData(ownerFields);
    const dataKey = decrypt(this.#find(keyId).key, additional, Buffer.from(wrapped, 'base64url'));
    const rewrapped = encrypt(this.#newest().key, additional, dataKey).toString('base64url');
    return ['v1', this.currentKeyId, rewrapped, ...content].join('.');
  }

  #newest(): RingKey {
    return this.#keys[0] as RingKey;
  }

  #find(keyId: string): RingKey {
    const found = this.#keys.find((candidate) => candidate.id === keyId);
    if (!found) throw new SealError('seal_unknown_key', `No key ${keyId} in the ring`, keyId);
    return found;
  }

  #derive(ringKey: RingKey, purpose: string): Buffer {
    const name = `${ringKey.id}|${purpose}`;
    let derived = this.#derived.get(name);
    if (!derived) {
      derived = Buffer.from(hkdfSync('sha256', ringKey.key, Buffer.alloc(0), `parley|${purpose}`, KEY_BYTES));
      this.#derived.set(name, derived);
    }
    return derived;
  }
}

/** The id of the key that a value was sealed with, whatever made it; empty for what is no sealed value. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.', 2)[1] ?? '';
}

function additionalData(fields: string[]): string {
  return ['v1', ...fields].map((field) => `${Buffer.byteLength(field)}:${field}`).join('|');
}

function encrypt(key: Buffer, additional: string, plain: Buffer): Buffer {
  const iv = freshBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, CIPHER_OPTIONS).setAAD(Buffer.from(additional));
  const sealed = cipher.update(plain);
  // What this mode has left at the end is nothing but the tag.
  cipher.final();
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
}

function decrypt(key: Buffer, additional: string, sealed: Buffer): Buffer {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw broken();
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(additional)).setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw broken();
  }
}

function broken(): SealError {
  return new SealError('seal_broken', 'A sealed value does not open: altered, or not of this owner');
}
