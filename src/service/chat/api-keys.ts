import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Returns a function that finds a given API key among the known ones; undefined if it is unknown. Digests of all keys are
 * always compared, so that timing does not reveal a similar key (SECURITY.md constant-time). Known keys are hashed once: a
 * service may have a hundred keys, and every request is checked.
 */
export function createKeyFinder(apiKeys: readonly string[]): (given: string) => string | undefined {
  const known = apiKeys.map((key) => ({ key, digest: digestOf(key) }));
  return (given) => {
    const digest = digestOf(given);
    let found: string | undefined;
    for (const candidate of known) if (timingSafeEqual(candidate.digest, digest)) found ??= candidate.key;
    return found;
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
