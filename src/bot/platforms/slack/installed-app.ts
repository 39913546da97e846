import { inBackground } from '../../../shared/in-background.ts';
import type { BackToChat } from '../platform.ts';
import type { Installation, Installations } from './installations.ts';
import type { AppIdentity, Origin } from './own-app.ts';
import type { SlackApi } from './platform-api.ts';

/** The app in one further workspace; its identity was recorded at its installation. */
export class InstalledApp implements AppIdentity {
  readonly #team: string;
  readonly #installations: Installations;

  constructor(team: string, installations: Installations) {
    this.#team = team;
    this.#installations = installations;
  }

  ready(): Promise<unknown> | undefined {
    return this.#installations.refresh();
  }

  async team(): Promise<string> {
    return this.#team;
  }

  async isOwnWorkspace({ teamId }: Omit<Origin, 'appId'>): Promise<boolean> {
    return teamId === this.#team && (await this.#installations.find(this.#team)) !== undefined;
  }

  /** Ignores events of workspaces without an installation, and of other apps. */
  isForeignOrigin({ teamId, appId }: Origin): boolean {
    // While Redis is unavailable nothing can be stored either. Slack is asked to deliver again, when Redis may be back.
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

  /**
   * Handles a report that the app was removed. Such a report may be late and concern an earlier installation, whose
   * successor's token still works.
   */
  left(api: SlackApi): void {
    inBackground(async () => {
      const installation = await this.#installations.find(this.#team);
      if (!installation) return;
      const answer = await api.call('auth.test', {});
      if (answer.kind === 'unauthorised') await this.#installations.end(this.#team, installation.token);
    });
  }

  #known(): Installation | undefined {
    return this.#installations.cached(this.#team);
  }
}
