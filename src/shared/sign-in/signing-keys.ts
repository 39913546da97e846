import {
  constants,
  createHmac,
  createPublicKey,
  timingSafeEqual,
  verify,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import type { Claims } from './person-from-claims.ts';
import { ProviderError } from './provider-error.ts';
import { asObject, parseJson, type JsonObject } from '../parse-json.ts';

interface Algorithm {
  kty: 'RSA' | 'EC' | 'OKP';
  /** Undefined if the algorithm implies it. */
  hash: string | undefined;
  /** Curve names of Node, or key types; empty for RSA. */
  curves?: readonly string[];
  isPss?: boolean;
}

const rsa = (hash: string, isPss = false): Algorithm => ({ kty: 'RSA', hash, isPss });
const ec = (hash: string, curve: string): Algorithm => ({ kty: 'EC', hash, curves: [curve] });
const okp = (...curves: string[]): Algorithm => ({ kty: 'OKP', hash: undefined, curves });

/** Public-key algorithms (RFC 7518 section 3.1, RFC 8037, RFC 9864). `none` is not accepted. */
const ALGORITHMS = new Map<string, Algorithm>([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', rsa('sha256', true)],
  ['PS384', rsa('sha384', true)],
  ['PS512', rsa('sha512', true)],
  ['ES256', ec('sha256', 'prime256v1')],
  ['ES384', ec('sha384', 'secp384r1')],
  ['ES512', ec('sha512', 'secp521r1')],
  ['EdDSA', okp('ed25519', 'ed448')],
  ['Ed25519', okp('ed25519')],
  ['Ed448', okp('ed448')],
]);
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [...ALGORITHMS.keys()];

/** The only accepted algorithm with a shared secret, and the minimum length of that secret (RFC 7518 section 3.2). */
const SECRET_ALGORITHM = 'HS256';
const MIN_SECRET_BYTES = 32;
const MIN_RSA_BITS = 2_048;

/** Keys to verify a signature with. */
export interface SigningKeys {
  /** From the provider's key set, as received. */
  keys: readonly unknown[];
  /** Set only if the provider signs with the shared secret. */
  secret: string | undefined;
}

/**
 * Accepted signing algorithms: public-key algorithms, and HS256 if the provider lists no other and the secret is long
 * enough. Accepting both would let an attacker choose which key to attack.
 */
export function signingAlgorithms(
  listed: readonly string[] | undefined,
  clientSecret: string,
): { algorithms: readonly string[]; secret: string | undefined } {
  const isBySecret =
    listed?.includes(SECRET_ALGORITHM) === true &&
    !listed.some((name) => ALGORITHMS.has(name)) &&
    Buffer.byteLength(clientSecret) >= MIN_SECRET_BYTES;
  return isBySecret
    ? { algorithms: [SECRET_ALGORITHM], secret: clientSecret }
    : { algorithms: PUBLIC_KEY_ALGORITHMS, secret: undefined };
}

/** A token in compact form, whose signature is not verified yet. */
export interface UncheckedToken {
  algorithm: string;
  keyId: string | undefined;
  claims: Claims;
  signed: Buffer;
  signature: Buffer;
}

/** @throws ProviderError `failed` if the text is not a signed token, or has critical extensions */
export function readToken(text: string): UncheckedToken {
  const [head = '', body = '', signature = '', ...more] = text.trim().split('.');
  const header = jsonOf(head);
  const claims = jsonOf(body);
  if (more.length > 0) throw new ProviderError('failed', 'A token of the OIDC provider is encrypted');
  if (!header || !claims || typeof header['alg'] !== 'string' || header['crit'] !== undefined)
    throw new ProviderError('failed', 'A token of the OIDC provider cannot be read');
  const keyId = typeof header['kid'] === 'string' ? header['kid'] : undefined;
  const signed = Buffer.from(`${head}.${body}`);
  return { algorithm: header['alg'], keyId, claims, signed, signature: Buffer.from(signature, 'base64url') };
}

/**
 * Whether one of the keys made the signature. Every suitable key is tried: key ids are optional, may be repeated, and prove
 * nothing.
 */
export function isSignedByOne(token: UncheckedToken, { keys, secret }: SigningKeys): boolean {
  if (token.algorithm === SECRET_ALGORITHM) return secret !== undefined && isSignedBySecret(token, secret);
  const algorithm = ALGORITHMS.get(token.algorithm);
  return algorithm !== undefined && keys.some((key) => isSignedBy(token, algorithm, key));
}

function isSignedBySecret({ signed, signature }: UncheckedToken, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(signed).digest();
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

function isSignedBy(token: UncheckedToken, algorithm: Algorithm, candidate: unknown): boolean {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const jwk = candidate as JsonWebKey & Readonly<Record<string, unknown>>;
  const { kty, kid, alg, use, key_ops: operations } = jwk;
  const isOther = (said: unknown, ours: string | undefined) =>
    said !== undefined && ours !== undefined && said !== ours;
  if (kty !== algorithm.kty || isOther(kid, token.keyId) || isOther(use, 'sig')) return false;
  if (isOther(alg, token.algorithm) || (Array.isArray(operations) && !operations.includes('verify'))) return false;
  const key = publicKeyOf(jwk);
  if (!key || !isStrong(key, algorithm)) return false;
  const padding = algorithm.isPss === true ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const details =
    algorithm.kty === 'RSA'
      ? { key, padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : ({ key, dsaEncoding: 'ieee-p1363' } as const);
  return verify(algorithm.hash, token.signed, details, token.signature);
}

function publicKeyOf(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function isStrong(
  { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject,
  { curves }: Algorithm,
): boolean {
  if (!curves) return (details?.modulusLength ?? 0) >= MIN_RSA_BITS;
  return curves.some((curve) => curve === (details?.namedCurve ?? type));
}

function jsonOf(part: string): JsonObject | undefined {
  return asObject(parseJson(Buffer.from(part, 'base64url')));
}
