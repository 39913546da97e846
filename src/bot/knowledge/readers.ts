import { z } from 'zod';
import { inOurWords } from '../../shared/text/format-zod-error.ts';
import { matches, subjectSchema, type PolicyPerson, type PolicyPlace, type Subject } from '../policy/subject.ts';

/** Who may read something: everybody, whoever a rule fits among those who are signed in, or nobody. */
export type Readers = 'public' | 'nobody' | Subject;

/** Who asks, and where: the turn's own facts, of which the model writes none (SECURITY.md knowledge-rights). */
export interface Reader {
  /** Undefined for somebody who is not signed in. */
  person: PolicyPerson | undefined;
  place: PolicyPlace;
}

/** `readers` as an administrator writes it: `public`, or a `who` as in the policy. */
export const readersSchema: z.ZodType<Readers> = z.unknown().transform((written, context) => {
  if (written === 'public') return written;
  const fault = (message: string, path: PropertyKey[] = []) => {
    context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  };
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    return fault('Must be "public", or a who as in the policy file, such as {"identity": ["JG"]}');
  const read = subjectSchema.safeParse(written, { error: inOurWords });
  if (!read.success) {
    for (const { path, message } of read.error.issues) fault(message, path);
    return z.NEVER;
  }
  return read.data.signedIn === false ? fault('What people who are not signed in may read is "public"') : read.data;
});

/**
 * Whether somebody may read it where they ask. What is said in a group is read by all who are there, so there only what is public
 * counts; and only that for whoever is not signed in.
 */
export function mayRead(readers: Readers, { person, place }: Reader): boolean {
  if (readers === 'public') return true;
  return readers !== 'nobody' && person !== undefined && place.kind === 'private' && matches(readers, person);
}

/** What a document says itself of its readers. @returns `nobody` for what cannot be understood */
export function readReaders(written: unknown): Readers {
  const read = readersSchema.safeParse(written);
  return read.success ? read.data : 'nobody';
}
