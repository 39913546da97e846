/** Values of `Sec-Fetch-Site`, from nearest to farthest, after `none` (the person's own action). */
export type FetchSite = 'none' | 'same-origin' | 'same-site' | 'cross-site';

const DISTANCE: readonly FetchSite[] = ['none', 'same-origin', 'same-site', 'cross-site'];

/**
 * Relation between an address and the page that requests it. Hosts count as one site only if they are equal; there is no
 * public suffix list.
 */
export function siteOf(fromOrigin: string, to: URL): FetchSite {
  const from = new URL(fromOrigin);
  if (from.origin === to.origin) return 'same-origin';
  return from.protocol === to.protocol && from.hostname === to.hostname ? 'same-site' : 'cross-site';
}

/** Along redirects the farthest value counts, so that returning to the first site does not hide the detour. */
export function worstSite(left: FetchSite, right: FetchSite): FetchSite {
  return DISTANCE.indexOf(left) > DISTANCE.indexOf(right) ? left : right;
}

/** The `Origin` header of a form's POST, by the Fetch standard's "append a request Origin header". */
export function originHeader(
  from: { origin: string; referrerPolicy: string } | undefined,
  to: URL,
  site: FetchSite,
): string {
  if (!from) return 'null';
  const isSecrecyLost = from.origin.startsWith('https:') && to.protocol !== 'https:';
  switch (from.referrerPolicy) {
    case 'no-referrer':
      return 'null';
    case 'same-origin':
      return site === 'same-origin' ? from.origin : 'null';
    case 'origin':
    case 'origin-when-cross-origin':
    case 'unsafe-url':
      return from.origin;
    default:
      return isSecrecyLost ? 'null' : from.origin;
  }
}
