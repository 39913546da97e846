import { z } from 'zod';
import type { NowMs } from '../../shared/clock.ts';
import { isTimeZone, localTime } from '../../shared/local-time.ts';
import { localize, type Bilingual, type Language } from '../../shared/text/texts.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

export const currentTime: ToolModule<'timeZone'> = {
  name: 'current_time',
  settings: ['timeZone'],
  create: ({ nowMs, settings }) => createCurrentTime(nowMs, settings.timeZone),
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

/** Returns the date and time. @param ownZone default time zone when the model names none */
export function createCurrentTime(nowMs: NowMs, ownZone: string): Tool {
  return defineTool({
    name: currentTime.name,
    description: 'Tells the current date, weekday and time, in a time zone if one is given.',
    schema,
    status: (_, { language }) => localize(STATUS, language),
    run: ({ timeZone = ownZone }, { language }) => Promise.resolve(writeTime(nowMs(), timeZone, language)),
  });
}

function writeTime(nowMs: number, zone: string, language: Language): string {
  if (language === 'zh') {
    const chinese = new Intl.DateTimeFormat('zh-CN', { timeZone: zone, dateStyle: 'full', timeStyle: 'medium' });
    return localize(IN_ZONE, language, { time: chinese.format(nowMs), zone });
  }
  const { date, time, weekday } = localTime(nowMs, zone);
  return localize(IN_ZONE, language, { time: `${date} ${time} (${weekday})`, zone });
}
