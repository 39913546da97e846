import { z } from 'zod';
import type { NowMs } from '../base/clock.ts';
import { say, type Bilingual, type Language } from '../base/texts.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

export const currentTime: ToolModule = {
  name: 'current_time',
  create: ({ nowMs }) => createCurrentTime(nowMs),
};

const STATUS: Bilingual = { en: 'Looking at the clock …', zh: '正在查看时间……' };

const IN_ZONE: Bilingual = { en: '{time}, time zone {zone}', zh: '{time}（时区 {zone}）' };

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
    run: ({ timeZone }, { language }) => Promise.resolve(writeTime(new Date(nowMs()), timeZone, language)),
  });
}

function writeTime(now: Date, timeZone: string | undefined, language: Language): string {
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (language === 'zh') {
    const chinese = new Intl.DateTimeFormat('zh-CN', { timeZone: zone, dateStyle: 'full', timeStyle: 'medium' });
    return say(IN_ZONE, language, { time: chinese.format(now), zone });
  }
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  const weekday = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'long' }).format(now);
  return say(IN_ZONE, language, { time: `${format.format(now)} (${weekday})`, zone });
}

function isTimeZone(name: string): boolean {
  try {
    return Boolean(Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}
