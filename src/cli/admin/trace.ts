import { readTraces, type Trace, type TracedStep } from '../../bot/queue/read-trace.ts';
import type { RunAdmin } from './admin-context.ts';

/** `admin trace`: what happened to a question, by its reference. */
export const traceQuestion: RunAdmin = async ({ redis }, { subject }) => {
  const traces = await readTraces(redis, subject);
  const data = traces.map((trace) => ({ ...trace, steps: trace.steps.map(asData) }));
  if (traces.length === 0)
    return { outcome: 'not-found', data, text: 'No question has this reference; it is kept for a day\n' };
  return { data, text: traces.map(textOf).join('\n') };
};

function asData({ atMs, step, values }: TracedStep): Record<string, unknown> {
  return { time: timeOf(atMs), step, ...values };
}

const timeOf = (atMs: number) => (atMs === 0 ? undefined : new Date(atMs).toISOString());

function textOf({ id, conversation, person, state, mergedInto, model, rule, delivery, steps }: Trace): string {
  const heads: [string, string | undefined][] = [
    ['question', id],
    ['conversation', conversation],
    ['person', person],
    ['state', state],
    ['answered with', mergedInto],
    ['model', model],
    ['rule', rule],
    ['delivered', delivery],
  ];
  const lines = heads.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [`${name}: ${value}`]));
  return [...lines, ...steps.map(lineOf)].map((line) => `${line}\n`).join('');
}

function lineOf({ atMs, step, values }: TracedStep): string {
  const time = timeOf(atMs) ?? '-'.padEnd('2026-01-01T00:00:00.000Z'.length);
  const shown = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return [time, [step, ...shown].join(' ')].join('  ');
}
