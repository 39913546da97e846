const OUTCOME = /<html\b[^<>]*\sdata-outcome="(?<outcome>[\w-]+)"/i;

/** How far the flow of a page has progressed; intermediate pages report nothing. */
function outcomeOf(page: string): string | undefined {
  return OUTCOME.exec(page)?.groups?.['outcome'];
}

/**
 * Whether a page reports completion without anything left to read or retry: the bot's page after a sign-in, and the page
 * after a sign-out, which may be the sign-in service's.
 * @param origins the bot's, then the service's
 */
export function isClosingPage(page: string, origin: string, origins: readonly string[]): boolean {
  const outcome = outcomeOf(page);
  if (outcome === 'done') return origin === origins[0];
  return outcome === 'signed-out' && origins.includes(origin);
}
