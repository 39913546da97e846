import type { NowMs } from '../../shared/clock.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import type { AdminAct, RecordAct } from '../../bot/admin/record-act.ts';
import type { Config, Secrets } from '../../bot/config/config.ts';

/** What a subcommand works with. */
export interface AdminContext {
  config: Config;
  secrets: Secrets;
  redis: RedisClient;
  keyRing: KeyRing;
  nowMs: NowMs;
  /** Output for long tables. Most subcommands return their text instead. */
  output: NodeJS.WritableStream;
  /** Called once for each subcommand that ran. */
  recordAct: RecordAct;
}

/** The arguments of a subcommand. */
export interface AdminArguments {
  /** The positional argument; empty if the subcommand takes none. */
  subject: string;
  /** Values of its own options by name, as typed. */
  options: Readonly<Record<string, string | boolean | undefined>>;
}

/** What a subcommand found or did. */
export interface AdminResult {
  /** `not-found` and `refused` end the command with 1. Defaults to `done`. */
  outcome?: AdminAct['outcome'];
  /** The arguments do not fit together: the command ends with 2, and nothing is recorded. */
  isWrongUse?: boolean;
  /** Name in the record, if the subcommand does several things. Defaults to the subcommand. */
  act?: string;
  /** Subject in the record, without names of people. Defaults to the positional argument. */
  about?: string;
  /** The result for `--json`; undefined if it is already written. */
  data: unknown;
  /** The same for a terminal, in English; `terminal/zh` has the Chinese. */
  text: string;
  /** Whether the text is CSV, which is never translated. */
  isCsv?: boolean;
}

export function wrongUse(text: string): AdminResult {
  return { outcome: 'refused', isWrongUse: true, data: { error: text }, text: `${text}\n` };
}

export type RunAdmin = (context: AdminContext, args: AdminArguments) => Promise<AdminResult>;

/** An argument or option of a subcommand. */
export interface AdminArgument {
  summary: string;
  choices?: readonly string[];
  /** @returns whether the value has the form */
  accepts?: (value: string) => boolean;
  /** Complaint about another form, after "It ". */
  form?: string;
}

/** A subcommand. Its code is loaded only when it runs. */
export interface AdminSubcommand {
  name: string;
  summary: string;
  /** Arguments of each example. */
  examples: readonly string[];
  /** Its positional argument, which is required. */
  subject?: AdminArgument & {
    name: string;
    /** It names a person: logs and the audit record contain a keyed hash instead. */
    isAccount?: boolean;
  };
  options?: readonly (AdminArgument & { flags: string })[];
  load(): Promise<RunAdmin>;
}
