/** Platform-specific markdown rules. */
export interface Dialect {
  readonly name: string;
  /**
   * Neutralises the platform's own mentions, markup that imitates the platform, and hidden addresses, in addition to the
   * rules for all platforms. Runs over the whole text, including code, before parsing. Such markup begins with `@`, `<` or
   * `&`; texts without these characters are not passed in. Idempotent.
   */
  neutraliseOwnMentions(text: string): string;
  /**
   * Handling of unfinished markdown in a growing answer. `close`: it is closed for this snapshot, because each snapshot
   * replaces the previous one. `hold`: it is held back until complete, because snapshots are appended and never withdrawn.
   */
  readonly unfinished: 'close' | 'hold';
}
