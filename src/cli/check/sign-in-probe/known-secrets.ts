/** Shorter texts occur in ordinary sentences by chance, and no real secret is that short. */
const MIN_SECRET_CHARS = 8;

/**
 * All secrets that the probe has seen, so that no printed line contains one, whatever a service includes in its responses.
 */
export class KnownSecrets {
  readonly #secrets = new Set<string>();

  add(...secrets: readonly string[]): void {
    for (const secret of secrets) if (secret.length >= MIN_SECRET_CHARS) this.#secrets.add(secret);
  }

  /** Replaces every known secret in the text with dots. */
  hide(text: string): string {
    let hidden = text;
    // Longest first, because a secret may be a prefix of another.
    for (const secret of [...this.#secrets].toSorted((left, right) => right.length - left.length))
      hidden = hidden.replaceAll(secret, '•••');
    return hidden;
  }
}
