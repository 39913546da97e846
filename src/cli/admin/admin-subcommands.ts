import type { AdminSubcommand } from './admin-context.ts';

/** All subcommands of `admin`. Each also takes `--json`. */
export const ADMIN_SUBCOMMANDS: readonly AdminSubcommand[] = [
  {
    name: 'trace',
    summary: 'explains what happened to a question, with times and without text',
    examples: ['1a2b3c4d'],
    subject: {
      name: 'reference',
      summary: 'the reference that the person was given, or the trace of a log line',
      accepts: (text) => /^[0-9a-f]{8,40}$/i.test(text),
      form: 'takes 8 to 40 digits and letters from a to f',
    },
    load: async () => (await import('./trace.ts')).traceQuestion,
  },
  {
    name: 'dead-letters',
    summary: 'lists questions that were given up or could not be read, without their text',
    examples: ['', '--json'],
    load: async () => (await import('./dead-letters.ts')).listDeadLetters,
  },
  {
    name: 'replay',
    summary: 'puts a dead letter back as a question, once',
    examples: ['ID'],
    subject: {
      name: 'id',
      summary: 'its id in the list of dead letters',
      accepts: (text) => /^[0-9a-f]{40}$/i.test(text),
      form: 'takes the 40 digits and letters that dead-letters prints',
    },
    load: async () => (await import('./dead-letters.ts')).replay,
  },
  {
    name: 'usage',
    summary: 'prints questions and tokens by day, person, department or model',
    examples: ['--csv > usage.csv', '--by model --since 2026-11-01'],
    options: [
      { flags: '--csv', summary: 'prints CSV' },
      {
        flags: '--since <date>',
        summary: 'from this day on; usage is stored for 40 days',
        accepts: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
        form: 'takes a date such as 2026-11-01',
      },
      {
        flags: '--by <group>',
        summary: 'groups by day (default), person, department or model',
        choices: ['day', 'person', 'department', 'model'],
      },
    ],
    load: async () => (await import('./usage.ts')).showUsage,
  },
];
