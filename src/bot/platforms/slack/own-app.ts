import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { PlatformError } from '../platform-error.ts';
import type { BackToChat } from '../platform.ts';
import type { SlackApi } from './platform-api.ts';
import { fieldsOf } from './body-fields.ts';
import { textOf } from './post-answer.ts';

/** Where an event says that it comes from; absent where it does not say. */
export interface Origin {
  teamId: string | undefined;
  enterpriseId?: string;
  appId: string | undefined;
}

/** Reads it of an event's envelope, of a click or of a command. In a channel shared with others the context is what the app serves. */
export function originOf(parsed: unknown): Origin {
  const fields = fieldsOf(parsed);
  const isShared = fields['is_ext_shared_channel'] === true;
  return {
    teamId:
      (isShared ? textOf(fields['context_team_id']) : undefined) ?? textOf(fields['team_id']) ?? idIn(fields['team']),
    enterpriseId: textOf(fields['enterprise_id']) ?? idIn(fields['enterprise']),
    appId: textOf(fields['api_app_id']),
  };
}

function idIn(value: unknown): string | undefined {
  return textOf(fieldsOf(value)['id']);
}

/** A first event waits no longer for what Slack says of our token; Slack itself waits three seconds. */
const LONGEST_WAIT_MS = SECOND_MS;
const ASKED_AGAIN_AFTER_MS = 30 * SECOND_MS;

/** Who the app is in a workspace: whose events are ours, and how people get back to it. */
export interface AppIdentity {
  /** What an event should wait for before it is judged; undefined once all is known. Never rejects. */
  pending(): Promise<unknown> | undefined;
  team(): Promise<string | undefined>;
  /** @throws PlatformError `unreachable` while Slack does not say */
  isOwnWorkspace(origin: Omit<Origin, 'appId'>): Promise<boolean>;
  isStranger(origin: Origin): boolean;
  chatLink(): BackToChat | undefined;
}

/**
 * Whose events are ours: those of the workspace (or organisation) and of the app that the bot's token belongs to. A signature says only
 * that Slack sent them: one secret serves every workspace in which the app was installed, by whomever.
 */
export class OwnApp implements AppIdentity {
  readonly #api: SlackApi;
  #teamId: string | undefined;
  #enterpriseId: string | undefined;
  #appId: string | undefined;
  #userId: string | undefined;
  #asking: Promise<void> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(api: SlackApi) {
    this.#api = api;
  }

  /** What an event should wait for before it is judged; undefined once all is known, and while Slack does not say. Never rejects. */
  pending(): Promise<unknown> | undefined {
    if (this.#teamId !== undefined || this.#enterpriseId !== undefined) return undefined;
    if (!this.#asking && monotonicMs() - this.#askedAtMs >= ASKED_AGAIN_AFTER_MS) inBackground(() => this.#askOnce());
    return this.#asking && settledWithin([this.#asking], LONGEST_WAIT_MS);
  }

  /** The one workspace that the app is in; undefined for an app of a whole organisation, and while Slack does not say. Never rejects. */
  async team(): Promise<string | undefined> {
    await this.pending();
    return this.#teamId;
  }

  /**
   * Whether a workspace is the one of the app, or of its organisation. Nobody is taken for one of ours while that is not known.
   * @throws PlatformError `unreachable` while Slack does not say
   */
  async isOwnWorkspace({ teamId, enterpriseId }: Omit<Origin, 'appId'>): Promise<boolean> {
    if (this.#teamId === undefined && this.#enterpriseId === undefined) await this.#askOnce();
    if (this.#enterpriseId !== undefined) return enterpriseId === this.#enterpriseId;
    if (this.#teamId !== undefined) return teamId === this.#teamId;
    throw new PlatformError('unreachable', 'Slack did not say which workspace the bot is in');
  }

  /** The private chat with the bot, as an address that Slack opens; undefined while Slack has not said who we are. */
  chatLink(): BackToChat | undefined {
    inBackground(async () => this.pending());
    if (this.#teamId === undefined || this.#userId === undefined) return undefined;
    const where = new URLSearchParams({ team: this.#teamId, id: this.#userId });
    return { kind: 'link', platform: 'slack', href: `slack://user?${where.toString()}` };
  }

  /** Whether an event is another workspace's or another app's. The first of our workspace shows our app, where Slack did not say. */
  isStranger({ teamId, enterpriseId, appId }: Origin): boolean {
    if (this.#enterpriseId !== undefined) {
      if (enterpriseId !== this.#enterpriseId) return true;
    } else if (this.#teamId === undefined) {
      return false;
    } else if (teamId !== undefined && teamId !== this.#teamId) {
      return true;
    }
    if (appId === undefined) return false;
    this.#appId ??= appId;
    return appId !== this.#appId;
  }

  /** All who come meanwhile wait for one answer. */
  #askOnce(): Promise<void> {
    this.#askedAtMs = monotonicMs();
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  async #ask(): Promise<void> {
    const answer = await this.#api.call('auth.test', {});
    if (answer.kind !== 'ok') return;
    const { body } = answer;
    this.#userId = textOf(body['user_id']);
    const bot = textOf(body['bot_id']);
    const info = bot === undefined ? undefined : await this.#api.call('bots.info', { bot });
    // It needs a right that the app may not have.
    if (info?.kind === 'ok') this.#appId = textOf(fieldsOf(info.body['bot'])['app_id']);
    // An app that an organisation installed serves all of its workspaces.
    if (body['is_enterprise_install'] === true) this.#enterpriseId = textOf(body['enterprise_id']);
    else this.#teamId = textOf(body['team_id']);
  }
}
