import { setTimeout as pause } from 'node:timers/promises';
import { kindOfText, type AccountText } from './judge-text.ts';
import type { Ledger, SentEvent, VisibleMessage } from './ledger.ts';
import { PageBrowser } from './page-browser.ts';
import { loginOf } from './sign-in-service.ts';
import { addEvent, type TrafficOptions } from './traffic.ts';
import { LinkGone, walkToCode } from './walk-to-code.ts';

export interface NewUsersOptions {
  ledger: Ledger;
  /** All messages that people see so far. */
  messages(): readonly VisibleMessage[];
  send: TrafficOptions['send'];
}

/** Another worker takes over at most 20 s after a worker's death. */
const REPLY_LIMIT_MS = 45_000;
const POLL_EVERY_MS = 250;
const WALK_LIMIT_MS = 30_000;
/** The product grants a person five links per hour. */
const MAX_LINKS = 5;
const INVITATIONS: readonly AccountText[] = ['invitation', 'invitationHeld'];

/**
 * People who sign in after their first question, through the real pages, and type the code into the chat, while processes
 * die.
 */
export class NewUsers {
  readonly #options: NewUsersOptions;
  readonly #underWay = new Map<number, Promise<void>>();
  /** By conversation: the message whose code created the link. */
  readonly linked = new Map<number, SentEvent>();

  constructor(options: NewUsersOptions) {
    this.#options = options;
  }

  /** Sends like the platform; after the first acknowledged message its person goes to the sign-in pages. */
  async send(event: SentEvent): Promise<void> {
    await this.#options.send[event.platform](event);
    if (event.acknowledgedAtMs !== undefined && !this.#underWay.has(event.conversation))
      this.#underWay.set(event.conversation, this.#signIn(event));
  }

  /** Waits until everyone who began to sign in has finished or given up. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #signIn(first: SentEvent): Promise<void> {
    let asked: SentEvent | undefined = first;
    for (let links = 0; links < MAX_LINKS; links += 1) {
      const invited = asked && (await this.#reply(asked, INVITATIONS));
      const link = /https?:\/\/\S+\/link\/[\w-]+/.exec(invited?.text ?? '')?.[0];
      const code = link === undefined ? undefined : await this.#walk(first.conversation, link);
      if (code !== undefined && (await this.#type(first.conversation, code))) return;
      asked = await this.#say(first.conversation, '/signin');
    }
  }

  /** @returns the code; undefined if another link is needed */
  async #walk(conversation: number, link: string): Promise<string | undefined> {
    const browser = new PageBrowser();
    const giveUpAtMs = Date.now() + WALK_LIMIT_MS;
    while (Date.now() < giveUpAtMs) {
      try {
        return await walkToCode(browser, link, loginOf(conversation));
      } catch (error) {
        if (error instanceof LinkGone) return undefined;
        await pause(POLL_EVERY_MS);
      }
    }
    return undefined;
  }

  /** @returns whether the code created the link */
  async #type(conversation: number, code: string): Promise<boolean> {
    for (;;) {
      const typed = await this.#say(conversation, code);
      const reply = typed && (await this.#reply(typed));
      if (reply?.name === 'linkedNotice' && typed) this.linked.set(conversation, typed);
      // "Please send it again."
      if (reply?.name !== 'codeFailed') return reply?.name === 'linkedNotice';
    }
  }

  /** @returns the message, once it is acknowledged; undefined if the platform gave it up */
  async #say(conversation: number, says: string): Promise<SentEvent | undefined> {
    const { ledger, send } = this.#options;
    const event = addEvent(ledger, conversation, says);
    await send[event.platform](event);
    return event.acknowledgedAtMs === undefined ? undefined : event;
  }

  /**
   * The bot's text about the account in the reply to a message.
   * @param wanted kinds of text; defaults to any. They may also be in the reply to a later message, with which the first was
   * merged
   */
  async #reply(
    { id, conversation }: SentEvent,
    wanted?: readonly AccountText[],
  ): Promise<{ name: AccountText; text: string } | undefined> {
    const giveUpAtMs = Date.now() + REPLY_LIMIT_MS;
    while (Date.now() < giveUpAtMs) {
      for (const message of this.#options.messages()) {
        const isLater = wanted !== undefined && message.conversation === conversation && (message.event ?? 0) > id;
        if (message.event !== id && !isLater) continue;
        const text = message.snapshots.at(-1)?.text ?? '';
        const kind = kindOfText(text);
        if (kind.kind === 'account' && (wanted?.includes(kind.name) ?? true)) return { name: kind.name, text };
      }
      await pause(POLL_EVERY_MS);
    }
    return undefined;
  }
}
