import type { Bilingual } from '../../../shared/text/texts.ts';
import type { AnySignIn, InstitutionSignIn, MessagingAppSignIn } from './redirect-sign-in.ts';

export interface SignInMethodsOptions {
  messagingApps: readonly MessagingAppSignIn[];
  institution: InstitutionSignIn | undefined;
  /** Display name of the institution's sign-in. */
  institutionName: Bilingual;
  /** Whether the directory contains ids of this messaging app. */
  knowsUsersOf(app: string): boolean;
  /** Whether any person has a password here. */
  hasPasswords: boolean;
}

/**
 * The available sign-in methods, and the one for an environment (SERVICE.md ways-to-sign-in: "picks the method by
 * environment").
 */
export class SignInMethods {
  readonly institution: InstitutionSignIn | undefined;
  readonly institutionName: Bilingual;
  /** The login form is for people with a password here. Without any it is shown only if there is no other method. */
  readonly hasForm: boolean;
  readonly #apps: readonly MessagingAppSignIn[];
  readonly #byName: ReadonlyMap<string, AnySignIn>;

  constructor({ messagingApps, institution, institutionName, knowsUsersOf, hasPasswords }: SignInMethodsOptions) {
    this.institution = institution;
    this.institutionName = institutionName;
    this.hasForm = hasPasswords || institution === undefined;
    // An app whose ids match no person would be a dead end, while the institution's sign-in would work.
    this.#apps = messagingApps.filter(({ name }) => institution === undefined || knowsUsersOf(name));
    this.#byName = new Map([...this.#apps, ...(institution ? [institution] : [])].map((way) => [way.name, way]));
  }

  /** The sign-in method of the messaging app in which this page was opened. */
  appFor(userAgent: string): MessagingAppSignIn | undefined {
    return this.#apps.find((app) => app.isOpenIn(userAgent));
  }

  named(name: string): AnySignIn | undefined {
    return this.#byName.get(name);
  }
}
