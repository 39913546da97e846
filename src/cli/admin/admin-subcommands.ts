import { isAmount, readBudgetOwner } from '../../bot/admin/budget-acts.ts';
import { isDay } from '../../bot/admin/usage-sums.ts';
import { readPauseTarget } from '../../bot/domain/pause.ts';
import { BUDGET_LIMITS } from '../../bot/policy/budget.ts';
import type { AdminSubcommand } from './admin-context.ts';

const PAUSE_SUBJECT = {
  name: 'target',
  summary: '`all`, `platform:NAME`, `group:ID` or `model:NAME`',
  accepts: (text: string) => readPauseTarget(text) !== undefined,
  form: 'must be all, platform:NAME, group:ID or model:NAME',
} as const;
const NOT_EMPTY = { accepts: (text: string) => text !== '', form: 'must not be empty' };
const DAY = { accepts: isDay, form: 'takes a date such as 2026-11-01' };
const ACCOUNT = {
  name: 'account',
  summary: 'staff or student number, or PLATFORM:USER for a person who has not signed in',
  accepts: (text: string) => text.trim() !== '',
  form: NOT_EMPTY.form,
  isAccount: true,
};

/** All subcommands of `admin`. Each also takes `--json`. */
export const ADMIN_SUBCOMMANDS: readonly AdminSubcommand[] = [
  {
    name: 'trace',
    summary: 'explains what happened to a question, with times and tokens but without text',
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
    name: 'workers',
    summary: 'lists the receivers and workers, with their answers in progress',
    examples: ['', '--json'],
    load: async () => (await import('./workers.ts')).listWorkers,
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
    summary: 'prints questions, tokens and costs by day, person, department or model',
    examples: ['--csv > usage.csv', '--by department --since 2026-11-01 --until 2026-11-30'],
    options: [
      { flags: '--csv', summary: 'prints CSV' },
      {
        flags: '--since <date>',
        summary: 'from this day on; usage is stored for 40 days, so that a month is complete until the 9th of the next',
        ...DAY,
      },
      { flags: '--until <date>', summary: 'up to and including this day', ...DAY },
      {
        flags: '--by <group>',
        summary: 'groups by day (default), person, department or model',
        choices: ['day', 'person', 'department', 'model'],
      },
    ],
    load: async () => (await import('./usage.ts')).showUsage,
  },
  {
    name: 'unanswered',
    summary: 'counts questions without a helpful answer by words of their topics: no source, refused, thumbs down',
    examples: ['--csv > unanswered.csv', '--list --since 2026-11-01'],
    options: [
      { flags: '--csv', summary: 'prints CSV' },
      { flags: '--list', summary: 'prints the questions one by one, with their texts if UNANSWERED_TEXT allows it' },
      {
        flags: '--since <date>',
        summary: 'from this day on; they are stored for 40 days',
        ...DAY,
      },
    ],
    load: async () => (await import('./unanswered.ts')).showUnanswered,
  },
  {
    name: 'pause',
    summary: 'pauses the bot, a platform, a group or a model: questions get a sentence instead of an answer',
    examples: ['all --message "Back at 14:00."', 'model:svc-max'],
    subject: PAUSE_SUBJECT,
    options: [{ flags: '--message <text>', summary: 'a text that people read too', ...NOT_EMPTY }],
    load: async () => (await import('./pauses.ts')).pause,
  },
  {
    name: 'resume',
    summary: 'ends a pause',
    examples: ['all'],
    subject: PAUSE_SUBJECT,
    load: async () => (await import('./pauses.ts')).resume,
  },
  {
    name: 'pauses',
    summary: 'lists what is paused',
    examples: ['', '--json'],
    load: async () => (await import('./pauses.ts')).listPauses,
  },
  {
    name: 'budget',
    summary: 'shows the use of a budget, or adds to one of its limits for the rest of the day or month',
    examples: ['show --person 20210001', 'top-up --department "31*" --limit tokensPerMonth --add 1000000'],
    subject: { name: 'act', summary: 'what to do', choices: ['show', 'top-up'] },
    options: [
      {
        flags: '--person <account>',
        summary: 'an account, or PLATFORM:TENANT:USER for a person who is not signed in',
        ...NOT_EMPTY,
      },
      {
        flags: '--department <code>',
        summary: 'a department code as in the policy file',
        ...NOT_EMPTY,
      },
      {
        flags: '--group <id>',
        summary: 'a group, as PLATFORM:ID',
        accepts: (text) => readBudgetOwner('group', text) !== undefined,
        form: 'must be PLATFORM:ID',
      },
      { flags: '--model <name>', summary: 'a model', ...NOT_EMPTY },
      { flags: '--limit <name>', summary: 'the limit to add to', choices: BUDGET_LIMITS },
      {
        flags: '--add <count>',
        summary: 'how much to add',
        accepts: isAmount,
        form: 'must be a whole number of at least 1',
      },
    ],
    load: async () => (await import('./budget.ts')).runBudget,
  },
  {
    name: 'audit',
    summary: 'checks the files of the audit record (verify) or prints it with names (show)',
    examples: ['verify', 'show --account 20210001 --since 2026-11-01', 'show --json > audit.jsonl'],
    subject: {
      name: 'action',
      summary: 'verify or show',
      accepts: (text) => text === 'verify' || text === 'show',
      form: 'takes verify or show',
    },
    options: [
      { flags: '--account <account>', summary: 'show: entries of one account only' },
      {
        flags: '--since <date>',
        summary: 'show: entries since a date or a time (UTC)',
        accepts: (value) => /^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value)),
        form: 'takes a date such as 2026-11-01 or a time such as 2026-11-01T08:00:00Z',
      },
    ],
    load: async () => (await import('./audit-record.ts')).auditRecord,
  },
  {
    name: 'hold',
    summary: 'puts an account on legal hold: nothing of it is erased or expires',
    examples: ['20210001', '20210001 --release'],
    subject: ACCOUNT,
    options: [{ flags: '--release', summary: 'ends the hold' }],
    load: async () => (await import('./hold.ts')).hold,
  },
  {
    name: 'erase',
    summary: 'erases everything stored about an account, and records a proof',
    examples: ['20210001', 'wecom:zhangsan --json'],
    subject: ACCOUNT,
    load: async () => (await import('./erase.ts')).erase,
  },
];
