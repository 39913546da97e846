import type { Bilingual } from '../../../shared/text/texts.ts';
import type { AnySignIn, InstitutionSignIn, MessagingAppSignIn } from './redirect-sign-in.ts';

export interface SignInMethodsOptions {
  messagingApps: readonly MessagingAppSignIn[];
  institution: InstitutionSignIn | undefined;
  /** What people call the institution's sign-in. */
  institutionName: Bilingual;
  /** Whether the directory knows ids of this messaging app. */
  knowsUsersOf(app: string): boolean;
  /** Whether anybody has a password here. */
  hasPasswords: boolean;
}

/** Which ways to sign in there are, and which fits where somebody is (SERVICE.md ways-to-sign-in: "picks the method by environment"). */
export class SignInMethods {
  readonly institution: InstitutionSignIn | undefined;
  readonly institutionName: Bilingual;
  /** The form is for people with a password here; without any it stays only where there is no other way. */
  readonly hasForm: boolean;
  readonly #apps: readonly MessagingAppSignIn[];
  readonly #byName: ReadonlyMap<string, AnySignIn>;

  constructor({ messagingApps, institution, institutionName, knowsUsersOf, hasPasswords }: SignInMethodsOptions) {
    this.institution = institution;
    this.institutionName = institutionName;
    this.hasForm = hasPasswords || institution === undefined;
    // An app whose ids belong to nobody would lead everybody into a dead end, where the institution could go on.
    this.#apps = messagingApps.filter(({ name }) => institution === undefined || knowsUsersOf(name));
    this.#byName = new Map([...this.#apps, ...(institution ? [institution] : [])].map((way) => [way.name, way]));
  }

  /** The way of the messaging app in which this page was opened. */
  appFor(userAgent: string): MessagingAppSignIn | undefined {
    return this.#apps.find((app) => app.isOpenIn(userAgent));
  }

  named(name: string): AnySignIn | undefined {
    return this.#byName.get(name);
  }
}
