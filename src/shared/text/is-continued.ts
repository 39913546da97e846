/**
 * Whether a growing text only gained characters. Comparing a slice costs almost nothing where both texts share their memory;
 * `startsWith` reads every character.
 */
export function isContinued(text: string, before: string): boolean {
  const beginning = text.slice(0, before.length);
  return beginning === before;
}
