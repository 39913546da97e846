/** What sets one platform's markdown apart from another's. */
export interface Dialect {
  readonly name: string;
  /**
   * Alters what would call people, pose as the platform's own or hide an address there, beyond what every platform's texts
   * are rid of. Runs over the whole text, code included, before anything is read. Marks begin with `@`, `<` or `&`; texts without these are not asked about. Doing it twice changes nothing more.
   */
  alterOwnMarks(text: string): string;
  /**
   * What is done about markdown that is not finished while an answer grows. `close`: it is closed for this snapshot, since each
   * snapshot replaces the one before. `hold`: it is held back until it is whole, since snapshots are added to and never taken back.
   */
  readonly unfinished: 'close' | 'hold';
}
