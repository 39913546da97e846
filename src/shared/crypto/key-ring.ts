import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { hmacHex, sha256Hex } from './ids.ts';
import { CodedError } from '../coded-error.ts';
import { freshBytes } from './random-pool.ts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES };
const KEY_BYTES = 32;
const PSEUDONYM_DIGITS = 32;
/** Prefix of values written by `seal` and `sealRecord`, up to and including the key id. */
const SEALED_FORM = /^[sv]1\.([0-9a-f]{8})\./;

/** Thrown when a sealed value cannot be opened: the key is missing, or the value was altered or copied to another owner. */
export class SealError extends CodedError<'seal_unknown_key' | 'seal_broken'> {
  /** Id of the missing key; empty if the value is broken. */
  readonly keyId: string;

  constructor(code: SealError['code'], message: string, keyId = '') {
    super(code, message);
    this.keyId = keyId;
  }
}

interface RingKey {
  id: string;
  /** A KeyObject: Node prepares a raw key again at every use, which costs several times as much as sealing a message. */
  key: KeyObject;
}

/**
 * The keys that encrypt stored data, from `SECRET_KEY` and `SECRET_KEY_PREVIOUS` (SECURITY.md sealed-records,
 * key-rotation): the newest encrypts, all decrypt. The
 * additional data binds a value to its purpose and owner, so that a copy elsewhere does not open.
 */
export class KeyRing {
  readonly #keys: [RingKey, ...RingKey[]];
  readonly #derived = new Map<string, KeyObject>();

  /** @param keys 32 bytes each, newest first. */
  constructor(keys: Buffer[]) {
    const [newest, ...others] = keys;
    if (newest === undefined || keys.some((key) => key.length !== KEY_BYTES)) {
      throw new RangeError('A key ring requires at least one key of exactly 32 bytes');
    }
    this.#keys = [ringKeyOf(newest), ...others.map(ringKeyOf)];
  }

  /** Id of the key that encrypts. */
  get currentKeyId(): string {
    return this.#newest().id;
  }

  /** Ids of all keys, newest first, for the metric of SECURITY.md key-rotation. */
  get keyIds(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /**
   * Whether a value is sealed with a key that is not in this ring. False for a value that is not in sealed form, which is
   * broken.
   */
  lacksKeyOf(sealed: string): boolean {
    const [, keyId] = SEALED_FORM.exec(sealed) ?? [];
    return keyId !== undefined && !this.keyIds.includes(keyId);
  }

  /** A key for one purpose (CSRF tokens, log pseudonyms), derived from the newest key; 32 bytes. */
  deriveKey(purpose: string): KeyObject {
    return this.#derive(this.#newest(), purpose);
  }

  /**
   * Name for a Redis key that counts per person, chat or address. A keyed hash: with a plain one, a reader of Redis could
   * try all ids. Only for short-lived keys: the name changes with the ring's newest key.
   */
  pseudonym(purpose: string, id: string): string {
    return hmacHex(this.deriveKey(purpose), id).slice(0, PSEUDONYM_DIGITS);
  }

  /** The name under each key of the ring, newest first, for erasure. */
  pseudonyms(purpose: string, id: string): [string, ...string[]] {
    const [newest, ...others] = this.deriveKeys(purpose);
    const nameUnder = (key: KeyObject) => hmacHex(key, id).slice(0, PSEUDONYM_DIGITS);
    return [nameUnder(newest), ...others.map(nameUnder)];
  }

  /** The same key derived from every key of the ring, newest first, so that signatures made with older keys still verify. */
  deriveKeys(purpose: string): [KeyObject, ...KeyObject[]] {
    const [newest, ...others] = this.#keys;
    return [this.#derive(newest, purpose), ...others.map((ringKey) => this.#derive(ringKey, purpose))];
  }

  /**
   * Seals conversation content: `s1.<keyId>.<base64url of iv, ciphertext and tag>`.
   * @param owner the owner of the value (a conversation, a stream); opening it with another owner fails
   */
  seal(purpose: string, owner: string, plain: string): string {
    const ringKey = this.#newest();
    return `s1.${ringKey.id}.${encrypt(this.#derive(ringKey, purpose), `${purpose}|${owner}`, Buffer.from(plain)).toString('base64url')}`;
  }

  /** Opens a value from `seal`, ignoring anything that a script appended after a further dot. @throws SealError */
  open(purpose: string, owner: string, sealed: string): string {
    const [version, keyId, body] = sealed.split('.');
    if (version !== 's1' || keyId === undefined || body === undefined) throw broken();
    const key = this.#derive(this.#find(keyId), purpose);
    return decrypt(key, `${purpose}|${owner}`, Buffer.from(body, 'base64url')).toString('utf8');
  }

  /**
   * Seals a token or profile record with its own data key, wrapped by the ring's newest key:
   * `v1.<kekId>.<wrappedDek>.<iv>.<ciphertext>.<tag>` (SECURITY.md sealed-records).
   * @param ownerFields the record's owner (platform, tenant, …), length-prefixed into the additional data
   */
  sealRecord(ownerFields: string[], plain: string): string {
    const ringKey = this.#newest();
    const additional = additionalData(ownerFields);
    const dataKey = randomBytes(KEY_BYTES);
    const wrapped = encrypt(ringKey.key, additional, dataKey);
    const sealed = encrypt(createSecretKey(dataKey), additional, Buffer.from(plain));
    const parts = [
      wrapped,
      sealed.subarray(0, IV_BYTES),
      sealed.subarray(IV_BYTES, -TAG_BYTES),
      sealed.subarray(-TAG_BYTES),
    ];
    return ['v1', ringKey.id, ...parts.map((part) => part.toString('base64url'))].join('.');
  }

  /** Opens a value from `sealRecord`. @throws SealError */
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
    return decrypt(createSecretKey(dataKey), additional, Buffer.concat([iv, ciphertext, tag])).toString('utf8');
  }

  /**
   * Rewraps the record's data key with the newest key (SECURITY.md key-rotation). Returns the record unchanged if it already
   * uses that key. @throws SealError
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
    return this.#keys[0];
  }

  #find(keyId: string): RingKey {
    const found = this.#keys.find((candidate) => candidate.id === keyId);
    if (!found) throw new SealError('seal_unknown_key', `The key ring has no key ${keyId}`, keyId);
    return found;
  }

  #derive(ringKey: RingKey, purpose: string): KeyObject {
    const name = `${ringKey.id}|${purpose}`;
    let derived = this.#derived.get(name);
    if (!derived) {
      const bytes = hkdfSync('sha256', ringKey.key, Buffer.alloc(0), `parley|${purpose}`, KEY_BYTES);
      derived = createSecretKey(Buffer.from(bytes));
      this.#derived.set(name, derived);
    }
    return derived;
  }
}

function ringKeyOf(key: Buffer): RingKey {
  return { id: sha256Hex(`parley-kek|${key.toString('hex')}`).slice(0, 8), key: createSecretKey(key) };
}

/** Id of the key that sealed a value in either format; empty if the value is not in sealed form. */
export function keyIdOf(sealed: string): string {
  return sealed.split('.', 2)[1] ?? '';
}

function additionalData(fields: string[]): string {
  return ['v1', ...fields].map((field) => `${Buffer.byteLength(field)}:${field}`).join('|');
}

function encrypt(key: KeyObject, additional: string, plain: Buffer): Buffer {
  const iv = freshBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, CIPHER_OPTIONS).setAAD(Buffer.from(additional));
  const sealed = cipher.update(plain);
  // In GCM mode `final()` returns no further bytes; it completes the tag.
  cipher.final();
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]);
}

function decrypt(key: KeyObject, additional: string, sealed: Buffer): Buffer {
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
  return new SealError('seal_broken', 'A value cannot be decrypted: it was altered or belongs to another owner');
}
