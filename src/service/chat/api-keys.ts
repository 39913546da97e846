import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * A function that finds a given API key among the known ones, or tells that it is none of them.
 * Digests are compared, and always all of them, so that the time taken does not tell which key is close (SECURITY.md constant-time).
 * The known ones are hashed once: a service may have a hundred keys, and every request comes through here.
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
