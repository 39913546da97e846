/**
 * Maximum entries of each partition's audit stream. With AUDIT_DIR they are moved into files within seconds; without it, the
 * streams are the record, and the oldest entries leave it first. All partitions together use at most about 100 MB.
 */
export const MAX_AUDIT_ENTRIES = 4_000;

/** Classes of audit entries. Each has its own files and its own retention. */
export const AUDIT_CLASSES = ['question', 'sign-in', 'admin'] as const;
export type AuditClass = (typeof AUDIT_CLASSES)[number];

/** The person of an entry, as the platform names them, and the account where it is known. Stored encrypted only. */
export interface AuditPerson {
  platform: string;
  tenant: string;
  app: string;
  userId: string;
  account?: string;
}

/** One entry of the audit record. `details` never contains message text, tokens or keys. */
export interface AuditEntry {
  atMs: number;
  class: AuditClass;
  event: string;
  person?: AuditPerson;
  details: Readonly<Record<string, string | number | boolean | undefined>>;
}
