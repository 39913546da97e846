/** What a path of a frame's listener stands for. */
export type FrameTarget =
  | { kind: 'start' }
  /** The way back to the chat. */
  | { kind: 'back' }
  /** What the app puts into pages. */
  | { kind: 'script' }
  | { kind: 'outside'; url: string }
  /** A page of the named origin. */
  | { kind: 'elsewhere'; url: URL }
  /** A path of whichever origin the asking page belongs to. */
  | { kind: 'here'; path: string };

const START = '/~start';
const OUTSIDE = '/~outside';
const BACK = '/~back';
const SCRIPT = '/~app.js';
const ELSEWHERE = /^\/~to\/(?<index>\d+)(?<path>\/.*)$/;

/**
 * Addresses of a frame. Pages keep their own paths, so that their relative links work; links to another of the allowed
 * origins become `/~to/N/path`, which leaves room for a GET form's query; all others lead to a page that shows the address.
 */
export class FrameAddresses {
  readonly #origins: readonly string[];

  constructor(allowedOrigins: readonly string[]) {
    this.#origins = allowedOrigins;
  }

  /** The path at which a frame opens its first page. */
  readonly start = START;
  /** Where a page leads that leads back to the chat. */
  readonly back = BACK;
  readonly script = SCRIPT;

  /** The listener's path for a target, seen from a page of `currentOrigin`. */
  pathOf(target: URL, currentOrigin: string): string {
    const path = target.pathname + target.search + target.hash;
    if (target.origin === currentOrigin) return path;
    const index = this.#origins.indexOf(target.origin);
    return index >= 0 ? `/~to/${index}${path}` : `${OUTSIDE}?url=${encodeURIComponent(target.href)}`;
  }

  /** What a requested path (with its query) stands for. */
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
