import type { AdminSubcommand } from './admin-context.ts';

/** All subcommands of `admin`. Each also takes `--json`. */
export const ADMIN_SUBCOMMANDS: readonly AdminSubcommand[] = [
  {
    name: 'dead-letters',
    summary: 'lists questions that were given up or could not be read, without their text',
    examples: ['', '--json'],
    load: async () => (await import('./dead-letters.ts')).listDeadLetters,
  },
];
