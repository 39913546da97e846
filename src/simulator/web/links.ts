/** Schemes that a link in a message may have; everything else is shown as text. */
const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:']);
const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a link opens inside the app; the others open in a tab of the browser. */
export type IsInApp = (href: string) => boolean;

/**
 * Tells the links of the bot and its sign-in from others: those of the named origins, or, when none are named,
 * every loopback address, which is where local mode has them.
 */
export function inAppLinks(origins: readonly string[] | undefined): IsInApp {
  return (href) => {
    const url = parse(href);
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    return origins === undefined ? LOOPBACK_HOSTS.has(url.hostname) : origins.includes(url.origin);
  };
}

/** Whether a message may link there: an absolute http, https or mailto address without a name and password in it. */
export function isAllowedLink(href: string): boolean {
  const url = parse(href);
  return url !== undefined && LINK_SCHEMES.has(url.protocol) && url.username === '' && url.password === '';
}

/** The host (with port) that is shown beside a link, unless the link's own words are that address; undefined for mail. */
export function hostBeside(href: string, words: string): string | undefined {
  const host = parse(href)?.host ?? '';
  const [, named] = /^(?:https?:\/\/)?([^\s/?#]+)(?:[/?#]\S*)?$/i.exec(words) ?? [];
  return host === '' || named?.toLowerCase() === host ? undefined : host;
}

function parse(href: string): URL | undefined {
  try {
    return new URL(href);
  } catch {
    return undefined;
  }
}
