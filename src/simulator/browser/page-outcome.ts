const OUTCOME = /<html\b[^<>]*\sdata-outcome="(?<outcome>[\w-]+)"/i;

/** How far a page that says so has brought the person; pages on the way say nothing. */
function outcomeOf(page: string): string | undefined {
  return OUTCOME.exec(page)?.groups?.['outcome'];
}

/**
 * Whether a page says that all is done and nothing is left to read or to try: the bot's page after a sign-in, and the one that
 * says that somebody is signed out, which may be the sign-in service's.
 * @param origins the bot's, then the service's
 */
export function isClosingPage(page: string, origin: string, origins: readonly string[]): boolean {
  const outcome = outcomeOf(page);
  if (outcome === 'done') return origin === origins[0];
  return outcome === 'signed-out' && origins.includes(origin);
}
