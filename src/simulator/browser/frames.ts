import type { IncomingMessage } from 'node:http';
import { inBackground } from '../../shared/in-background.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import type { NowMs } from '../../shared/clock.ts';
import type { FrameView } from '../api.ts';
import { MessengerError } from '../messenger-error.ts';
import type { AppSessions } from './app-sessions.ts';
import { Frame } from './frame.ts';
import { PersonBrowser } from './person-browser.ts';

export interface FramesOptions {
  sessions: AppSessions;
  /** Origins of the bot and the service; the messenger's own is added. */
  origins: readonly string[];
  /** The messenger's own address. */
  url(): string;
  /** Whether a request comes from the browser of the user who started Parley. */
  isOwner(request: IncomingMessage): boolean;
  /** User agent of the in-app browser. */
  userAgent: string;
  nowMs: NowMs;
  frameIdleMs: number;
  signal: AbortSignal;
  /** Called when a frame shows another page. */
  onMove(personId: string, frame: FrameView): void;
}

interface OpenFrame {
  frame: Frame;
  usedAtMs: number;
}

const MAX_FRAMES = 50;
const MAX_SWEEP_MS = 60_000;

/** The open windows of all people's in-app browsers. Cookies are kept per person, in memory. */
export class Frames {
  readonly #options: FramesOptions;
  readonly #browsers = new Map<string, PersonBrowser>();
  readonly #open = new Map<string, OpenFrame>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: FramesOptions) {
    this.#options = options;
    this.#sweeper = setInterval(
      () => inBackground(() => this.#closeIdle()),
      Math.min(options.frameIdleMs, MAX_SWEEP_MS),
    );
    this.#sweeper.unref();
  }

  /** Opens a link in a new frame. Nothing is fetched until the frame is displayed. @throws MessengerError `bad_request` */
  async open(personId: string, link: string): Promise<FrameView> {
    if (!/^https?:\/\//i.test(link) || !URL.canParse(link))
      throw new MessengerError('bad_request', 'Not a web address');
    const startUrl = new URL(link);
    const id = randomToken(12);
    const frameUrl = { value: '' };
    const frame = new Frame({
      browser: this.browserOf(personId),
      startUrl,
      allowedOrigins: this.#allowedOrigins(),
      messengerOrigin: new URL(this.#options.url()).origin,
      trustedOrigins: this.#options.origins,
      isOwner: this.#options.isOwner,
      // The address stays the initial one, so that a page that follows it does not reload the frame.
      onShow: (host, isDone) =>
        this.#options.onMove(personId, { id, frameUrl: frameUrl.value, host, isDone: isDone || undefined }),
      onBack: () => {
        this.#options.onMove(personId, { id, frameUrl: frameUrl.value, host: startUrl.host, isClosed: true });
        inBackground(() => this.close(id));
      },
      onUse: () => this.#touch(id),
    });
    frameUrl.value = await frame.open();
    this.#open.set(id, { frame, usedAtMs: this.#options.nowMs() });
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size > MAX_FRAMES) await this.close(oldest);
    return { id, frameUrl: frameUrl.value, host: startUrl.host };
  }

  /** @throws MessengerError `not_found` */
  async close(id: string): Promise<void> {
    const open = this.#open.get(id);
    if (!open) throw new MessengerError('not_found', 'No such frame');
    this.#open.delete(id);
    await open.frame.close();
  }

  async closeAll(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  /** The person's browser without a window. */
  browserOf(personId: string): PersonBrowser {
    const known = this.#browsers.get(personId);
    if (known) return known;
    const browser = new PersonBrowser({
      allowedOrigins: this.#allowedOrigins(),
      messengerOrigin: new URL(this.#options.url()).origin,
      userAgent: this.#options.userAgent,
      sessionSecret: this.#options.sessions.secretOf(personId),
      signal: this.#options.signal,
    });
    this.#browsers.set(personId, browser);
    return browser;
  }

  #allowedOrigins(): string[] {
    return [...new Set([...this.#options.origins, new URL(this.#options.url()).origin])];
  }

  #touch(id: string): void {
    const open = this.#open.get(id);
    if (open) open.usedAtMs = this.#options.nowMs();
  }

  async #closeIdle(): Promise<void> {
    const limitMs = this.#options.nowMs() - this.#options.frameIdleMs;
    const idle = [...this.#open].filter(([, { usedAtMs }]) => usedAtMs < limitMs);
    await Promise.all(idle.map(([id]) => this.close(id)));
  }
}
