import { fieldsOf } from '../../../shared/parse-json.ts';
import { monotonicMs, SECOND_MS } from '../../../shared/clock.ts';
import { inBackground } from '../../../shared/in-background.ts';
import { settledWithin } from '../../../shared/settled-within.ts';
import { PlatformError } from '../platform-error.ts';
import type { BackToChat } from '../platform.ts';
import type { SlackApi } from './platform-api.ts';
import { textOf } from './post-answer.ts';

/** Origin of an event; fields are absent if the event does not name them. */
export interface Origin {
  teamId: string | undefined;
  enterpriseId?: string;
  appId: string | undefined;
}

/**
 * Reads the origin from the envelope of an event, a click or a command. In a channel shared between workspaces, the context
 * names the workspace that the app serves.
 */
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

/** Maximum wait of a first event for the identity of our token; Slack itself waits three seconds. */
const MAX_WAIT_MS = SECOND_MS;
const ASKED_AGAIN_AFTER_MS = 30 * SECOND_MS;

/** Identity of the app in a workspace: which events belong to it, and how people return to its chat. */
export interface AppIdentity {
  /**
   * Work to await before an event is judged; undefined once the identity is known, and while Slack does not answer. Never
   * rejects.
   */
  ready(): Promise<unknown> | undefined;
  /** The workspace of the app; undefined for an organisation-wide app, and while Slack does not answer. Never rejects. */
  team(): Promise<string | undefined>;
  /**
   * Whether a workspace is that of the app, or belongs to its organisation. Throws instead of accepting a workspace while
   * this is unknown. @throws PlatformError `unreachable` while Slack does not answer
   */
  isOwnWorkspace(origin: Omit<Origin, 'appId'>): Promise<boolean>;
  /** Whether an event belongs to another workspace or another app. */
  isForeignOrigin(origin: Origin): boolean;
  /** Link that opens the private chat with the bot in Slack; undefined while the identity is unknown. */
  chatLink(): BackToChat | undefined;
}

/**
 * Accepts events of the workspace (or organisation) and of the app to which the bot token belongs. A signature alone does
 * not identify them: one secret serves every workspace in which the app was installed.
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

  ready(): Promise<unknown> | undefined {
    if (this.#teamId !== undefined || this.#enterpriseId !== undefined) return undefined;
    if (!this.#asking && monotonicMs() - this.#askedAtMs >= ASKED_AGAIN_AFTER_MS) inBackground(() => this.#askOnce());
    return this.#asking && settledWithin([this.#asking], MAX_WAIT_MS);
  }

  async team(): Promise<string | undefined> {
    await this.ready();
    return this.#teamId;
  }

  async isOwnWorkspace({ teamId, enterpriseId }: Omit<Origin, 'appId'>): Promise<boolean> {
    if (this.#teamId === undefined && this.#enterpriseId === undefined) await this.#askOnce();
    if (this.#enterpriseId !== undefined) return enterpriseId === this.#enterpriseId;
    if (this.#teamId !== undefined) return teamId === this.#teamId;
    throw new PlatformError('unreachable', 'Slack did not return the workspace of the bot');
  }

  chatLink(): BackToChat | undefined {
    inBackground(async () => this.ready());
    if (this.#teamId === undefined || this.#userId === undefined) return undefined;
    const where = new URLSearchParams({ team: this.#teamId, id: this.#userId });
    return { kind: 'link', platform: 'slack', href: `slack://user?${where.toString()}` };
  }

  /** If Slack did not name our app, the first event of our workspace does. */
  isForeignOrigin({ teamId, enterpriseId, appId }: Origin): boolean {
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

  /** Concurrent callers share one request. */
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
    // This call needs a scope that the app may not have.
    if (info?.kind === 'ok') this.#appId = textOf(fieldsOf(info.body['bot'])['app_id']);
    // An organisation-wide installation serves all workspaces of the organisation.
    if (body['is_enterprise_install'] === true) this.#enterpriseId = textOf(body['enterprise_id']);
    else this.#teamId = textOf(body['team_id']);
  }
}
