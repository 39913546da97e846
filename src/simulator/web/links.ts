/** URL schemes that are allowed in links; other links are shown as text. */
const LINK_SCHEMES = new Set(['http:', 'https:', 'mailto:']);
const LOOPBACK_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a link opens inside the app; the others open in a browser tab. */
export type IsInApp = (href: string) => boolean;

/**
 * Recognizes the links of the bot and its sign-in: those of the given origins, or by default all loopback addresses, which
 * local mode uses.
 */
export function inAppLinks(origins: readonly string[] | undefined): IsInApp {
  return (href) => {
    const url = parse(href);
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    return origins === undefined ? LOOPBACK_HOSTS.has(url.hostname) : origins.includes(url.origin);
  };
}

/** Whether a message may contain this link: an absolute http, https or mailto address without credentials. */
export function isAllowedLink(href: string): boolean {
  const url = parse(href);
  return url !== undefined && LINK_SCHEMES.has(url.protocol) && url.username === '' && url.password === '';
}

/** Host (with port) to show beside a link, unless the link text is that address; undefined for mail. */
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
