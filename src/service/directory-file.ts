import { z } from 'zod';
import { readJsonFile } from '../shared/json-file.ts';
import { checkUnique } from './unique-values.ts';
import { passwordFault } from './oauth/passwords.ts';

const profileSchema = z.object({
  id: z.string().min(1).max(128),
  active: z.boolean(),
  parentIdentityInfo: z.object({ name: z.string(), code: z.string().min(1) }),
  attributes: z.looseObject({
    BMBM: z.string(),
    BMMC: z.string(),
    XGH: z.string(),
    XM: z.string(),
    objectId: z.string(),
  }),
});

/** A person who can sign in; `profile` is the content of the profile endpoint, without `client_id`. */
export interface Person {
  username: string;
  profile: z.infer<typeof profileSchema>;
}

/** A person from the directory file. */
export interface ServicePerson extends Person {
  /** A PHC string of scrypt or argon2id, or `plain:…` if allowed. */
  password: string;
  /** The person's user ids in messaging apps, by platform name. */
  messaging: Readonly<Record<string, string>>;
}

const personSchema: z.ZodType<ServicePerson> = z.object({
  username: z.string().min(1).max(200),
  password: z.string(),
  profile: profileSchema,
  messaging: z.record(z.string(), z.string()).default({}),
});

export interface DirectoryFileOptions {
  /** Allows passwords as `plain:…`; for local mode only. Default false. */
  allowPlainPasswords?: boolean;
}

/** Parses the text of `SERVICE_DIRECTORY_FILE`. @throws ConfigFileError */
export function parseDirectoryFile(
  text: string,
  { allowPlainPasswords = false }: DirectoryFileOptions = {},
): ServicePerson[] {
  const fileSchema = z.array(personSchema).superRefine((people, context) => {
    const complain = (message: string) => context.addIssue({ code: 'custom', message });
    for (const [index, { password }] of people.entries()) {
      const fault = passwordFault(password, allowPlainPasswords);
      if (fault !== undefined) context.addIssue({ code: 'custom', path: [index, 'password'], message: fault });
    }
    checkUnique(
      people.map(({ username }) => username),
      'username',
      complain,
    );
    checkUnique(
      people.map(({ profile }) => profile.id),
      'profile.id',
      complain,
    );
    for (const app of new Set(people.flatMap(({ messaging }) => Object.keys(messaging))))
      checkUnique(
        // Some apps treat their user ids as case-insensitive.
        people.map(({ messaging }) => messaging[app]?.toLowerCase()),
        `messaging.${app}`,
        complain,
      );
  });
  return readJsonFile(text, fileSchema);
}
