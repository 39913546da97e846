import type { Registry } from 'prom-client';
import type { HealthPart } from './health.ts';
import { gauge } from './instruments.ts';

/**
 * Whether the files of `config/` on disk are those in use. After a rejected SIGHUP they are not: the process continues with
 * the old ones, and would not start with the new ones.
 */
export class ConfigFileState {
  readonly #tell: (faults: number) => void;
  #faults = 0;

  constructor(registry: Registry) {
    this.#tell = gauge(registry, {
      name: 'config_files_rejected_faults',
      help: 'Faults of the last SIGHUP if it was rejected; above 0 the files on disk are not in use',
    });
    this.#tell(0);
  }

  /** The last SIGHUP was rejected for this many faults, or was applied (0). */
  reread(faults: number): void {
    this.#faults = faults;
    this.#tell(faults);
  }

  /** A sentence for the operator while the files on disk are not those in use. */
  sentence(): string | undefined {
    if (this.#faults === 0) return undefined;
    return 'degraded: the files on disk were rejected at the last SIGHUP and are not in use. Correct them before a restart; the log names each fault';
  }

  /** Entry in `/readyz`. The process stays ready. */
  get part(): HealthPart {
    return { name: 'files', isReady: async () => true, remark: () => this.sentence() };
  }
}
