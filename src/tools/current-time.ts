import { z } from 'zod';
import type { NowMs } from '../base/clock.ts';
import { say, type Bilingual } from '../base/texts.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

export const currentTime: ToolModule = {
  name: 'current_time',
  create: ({ nowMs }) => createCurrentTime(nowMs),
};

const STATUS: Bilingual = { en: 'Looking at the clock …', zh: '正在查看时间……' };

const schema = z.strictObject({
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'Must be an IANA time zone such as Asia/Shanghai')
    .optional()
    .describe('IANA name of a time zone, such as Asia/Shanghai or UTC. Leave it out for the time zone of the bot.'),
});

/** Tells date and time. */
export function createCurrentTime(nowMs: NowMs): Tool {
  return defineTool({
    name: currentTime.name,
    description: 'Tells the current date, weekday and time, in a time zone if one is given.',
    schema,
    status: (_, { language }) => say(STATUS, language),
    run: ({ timeZone }) => Promise.resolve(writeTime(new Date(nowMs()), timeZone)),
  });
}

function writeTime(now: Date, timeZone: string | undefined): string {
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const weekday = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long' }).format(now);
  return `${format.format(now)} (${weekday}), time zone ${zone}`;
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
