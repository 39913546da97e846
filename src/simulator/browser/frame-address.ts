/** Meaning of a path of a frame's listener. */
export type FrameTarget =
  | { kind: 'start' }
  /** Navigates back to the chat. */
  | { kind: 'back' }
  /** The script that the app injects. */
  | { kind: 'script' }
  | { kind: 'outside'; url: string }
  /** A page of the named origin. */
  | { kind: 'elsewhere'; url: URL }
  /** A path on the origin of the requesting page. */
  | { kind: 'here'; path: string };

const START = '/~start';
const OUTSIDE = '/~outside';
const BACK = '/~back';
const SCRIPT = '/~app.js';
const ELSEWHERE = /^\/~to\/(?<index>\d+)(?<path>\/.*)$/;

/**
 * Addresses of a frame. Pages keep their own paths, so that their relative links work. Links to another allowed origin
 * become `/~to/N/path`, which leaves the query free for a GET form. All other links lead to a page that shows the address.
 */
export class FrameAddresses {
  readonly #origins: readonly string[];

  constructor(allowedOrigins: readonly string[]) {
    this.#origins = allowedOrigins;
  }

  /** The path of the first page in a frame. */
  readonly start = START;
  /** Path that navigates back to the chat. */
  readonly back = BACK;
  readonly script = SCRIPT;

  /** The listener's path for a target, as seen from a page of `currentOrigin`. */
  pathOf(target: URL, currentOrigin: string): string {
    const path = target.pathname + target.search + target.hash;
    if (target.origin === currentOrigin) return path;
    const index = this.#origins.indexOf(target.origin);
    return index >= 0 ? `/~to/${index}${path}` : `${OUTSIDE}?url=${encodeURIComponent(target.href)}`;
  }

  /** Parses a requested path with its query. */
  targetOf(path: string): FrameTarget {
    if (path === START) return { kind: 'start' };
    if (path === BACK) return { kind: 'back' };
    if (path === SCRIPT) return { kind: 'script' };
    if (path.startsWith(`${OUTSIDE}?`)) {
      return { kind: 'outside', url: new URL(path, 'http://frame').searchParams.get('url') ?? '' };
    }
    const match = ELSEWHERE.exec(path);
    const origin = this.#origins[Number(match?.groups?.['index'])];
    const rest = match?.groups?.['path'];
    return origin !== undefined && rest !== undefined
      ? { kind: 'elsewhere', url: new URL(origin + rest) }
      : { kind: 'here', path };
  }
}
