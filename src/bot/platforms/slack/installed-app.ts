import { inBackground } from '../../../shared/in-background.ts';
import type { BackToChat } from '../platform.ts';
import type { Installation, Installations } from './installations.ts';
import type { AppIdentity, Origin } from './own-app.ts';
import type { SlackApi } from './platform-api.ts';

/** The app in one further workspace: who it is there was told at its installation. */
export class InstalledApp implements AppIdentity {
  readonly #team: string;
  readonly #installations: Installations;

  constructor(team: string, installations: Installations) {
    this.#team = team;
    this.#installations = installations;
  }

  pending(): Promise<unknown> | undefined {
    return this.#installations.fresh();
  }

  async team(): Promise<string> {
    return this.#team;
  }

  async isOwnWorkspace({ teamId }: Omit<Origin, 'appId'>): Promise<boolean> {
    return teamId === this.#team && (await this.#installations.find(this.#team)) !== undefined;
  }

  /** Events of a workspace that the app is not installed in, or of another app there, are nobody's. */
  isStranger({ teamId, appId }: Origin): boolean {
    // While Redis is away nothing can be stored either, and Slack is asked to send again; it may be back by then.
    if (!this.#installations.isRead) return false;
    const installation = this.#known();
    return installation === undefined || teamId !== this.#team || appId !== installation.appId;
  }

  chatLink(): BackToChat | undefined {
    const installation = this.#known();
    if (!installation) return undefined;
    const where = new URLSearchParams({ team: this.#team, id: installation.botUserId });
    return { kind: 'link', platform: 'slack', href: `slack://user?${where.toString()}` };
  }

  /** Slack says that the app is gone from here. It may say so late, of an installation before this one: then the token still works. */
  left(api: SlackApi): void {
    inBackground(async () => {
      const installation = await this.#installations.find(this.#team);
      if (!installation) return;
      const answer = await api.call('auth.test', {});
      if (answer.kind === 'unauthorised') await this.#installations.end(this.#team, installation.token);
    });
  }

  #known(): Installation | undefined {
    return this.#installations.known(this.#team);
  }
}
