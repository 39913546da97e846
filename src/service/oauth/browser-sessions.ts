import type { Context } from 'koa';
import type { Person } from '../directory-file.ts';
import type { ServiceReport } from '../service-report.ts';
import { clearCookies, sessionIdOf, setSession } from './cookies.ts';
import type { MessagingAppSignIn } from './methods/redirect-sign-in.ts';
import type { SignInMethods } from './methods/sign-in-methods.ts';
import type { People } from './people.ts';
import type { Sessions } from './sessions.ts';

export interface VisitorsOptions {
  sessions: Sessions;
  methods: Pick<SignInMethods, 'appFor'>;
  people: Pick<People, 'byUsername'>;
  report: ServiceReport;
}

/** Tracks who is signed in, per browser. */
export class BrowserSessions {
  readonly #options: VisitorsOptions;

  constructor(options: VisitorsOptions) {
    this.#options = options;
  }

  /** The web sign-in of the messaging app in which this page was opened. */
  appFor(ctx: Context): MessagingAppSignIn | undefined {
    return this.#options.methods.appFor(ctx.get('User-Agent'));
  }

  /**
   * The person who is signed in in this browser. Inside a messaging app only a sign-in through that app counts: the app
   * determines the identity, even if another person used a password in the same web view before.
   * @throws StoreError
   */
  async currentPerson(ctx: Context): Promise<Person | undefined> {
    const session = await this.#options.sessions.find(sessionIdOf(ctx));
    const app = this.appFor(ctx);
    if (!session || (app && session.method !== app.name)) return undefined;
    return this.#options.people.byUsername(session.username);
  }

  /** Starts a new session in this browser and ends the previous one. @throws StoreError */
  async begin(ctx: Context, { person, method }: { person: Person; method: string }): Promise<void> {
    const { sessions, report } = this.#options;
    await sessions.end(sessionIdOf(ctx));
    setSession(ctx, await sessions.start({ username: person.username, method }));
    report.signInStep({ step: 'signed-in', reason: method });
  }

  /** Ends this browser's session. @throws StoreError */
  async end(ctx: Context): Promise<void> {
    await this.#options.sessions.end(sessionIdOf(ctx));
    clearCookies(ctx);
  }
}
