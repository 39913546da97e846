import { z } from 'zod';
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
export const readersSchema: z.ZodType<Readers> = z
  .union([z.literal('public'), subjectSchema], 'Must be "public", or a who as in the policy file')
  .refine((readers) => readers === 'public' || readers.signedIn !== false, {
    message: 'What people who are not signed in may read is "public"',
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
