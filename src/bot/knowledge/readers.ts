import { z } from 'zod';
import { formatZodIssue } from '../../shared/text/format-zod-error.ts';
import { matches, subjectSchema, type PolicyPerson, type PolicyPlace, type Subject } from '../policy/subject.ts';

/** Who may read a document: everyone, signed-in users matching a rule, or no one. */
export type Readers = 'public' | 'nobody' | Subject;

/**
 * The user and the place of the conversation. Both come from the turn and never from the model (SECURITY.md
 * knowledge-rights).
 */
export interface Reader {
  /** Undefined if the user is not signed in. */
  person: PolicyPerson | undefined;
  place: PolicyPlace;
}

/** The configured `readers`: `public`, or a `who` as in the policy. */
export const readersSchema: z.ZodType<Readers> = z.unknown().transform((written, context) => {
  if (written === 'public') return written;
  const fault = (message: string, path: PropertyKey[] = []) => {
    context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  };
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    return fault('Must be "public", or a who as in the policy file, such as {"identity": ["JG"]}');
  const read = subjectSchema.safeParse(written, { error: formatZodIssue });
  if (!read.success) {
    for (const { path, message } of read.error.issues) fault(message, path);
    return z.NEVER;
  }
  return read.data.signedIn === false ? fault('To include people who are not signed in, use "public"') : read.data;
});

/**
 * Whether a user may read a document in this conversation. In a group all members see the answer, so only public documents
 * are allowed there. The same applies to users who are not signed in.
 */
export function mayRead(readers: Readers, { person, place }: Reader): boolean {
  if (readers === 'public') return true;
  return readers !== 'nobody' && person !== undefined && place.kind === 'private' && matches(readers, person);
}

/** Parses a document's own `readers`. @returns `nobody` if they cannot be parsed */
export function readReaders(written: unknown): Readers {
  const read = readersSchema.safeParse(written);
  return read.success ? read.data : 'nobody';
}
