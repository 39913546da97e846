/** Shorter texts occur by chance in any sentence; no secret worth the name is as short. */
const MIN_SECRET_CHARS = 8;

/** Everything secret that the probe has met, so that no line it prints can hold one, whatever a service put into an answer. */
export class KnownSecrets {
  readonly #secrets = new Set<string>();

  add(...secrets: readonly string[]): void {
    for (const secret of secrets) if (secret.length >= MIN_SECRET_CHARS) this.#secrets.add(secret);
  }

  /** The text with every known secret replaced by dots. */
  hide(text: string): string {
    let hidden = text;
    // The longest first: a secret may begin with another.
    for (const secret of [...this.#secrets].toSorted((left, right) => right.length - left.length))
      hidden = hidden.replaceAll(secret, '•••');
    return hidden;
  }
}
