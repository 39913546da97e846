/** The platform's limit: messages of one person that the bot may be answering at the same time (PLATFORM_FACTS.md wecom-callbacks). */
const MAX_IN_INTERACTION = 3;

/** Which messages of each person are in interaction: on their way to the bot, or being answered. */
export class Interactions {
  readonly #open = new Map<string, Set<string>>();

  /** Counts a message in, unless the person already has three others. */
  tryEnter(personId: string, messageId: string): boolean {
    const open = this.#open.get(personId) ?? new Set();
    this.#open.set(personId, open);
    if (!open.has(messageId) && open.size >= MAX_IN_INTERACTION) return false;
    open.add(messageId);
    return true;
  }

  leave(personId: string, messageId: string): void {
    this.#open.get(personId)?.delete(messageId);
  }
}
