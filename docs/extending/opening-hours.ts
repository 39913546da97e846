import { z } from 'zod';
import { localize, type Bilingual } from '../../shared/text/texts.ts';
import { ToolError } from './tool-error.ts';
import { defineTool, type ToolModule } from './tool.ts';

const STATUS: Bilingual = { en: 'Looking up opening hours …', zh: '正在查询开放时间……' };

const HOURS: Readonly<Record<string, string>> = { library: '07:00 to 22:30', gym: '06:00 to 21:00' };

const schema = z.strictObject({
  place: z.string().max(64).describe('The place, in English: library or gym.'),
});

export const openingHours: ToolModule = {
  name: 'opening_hours',
  create: () =>
    defineTool({
      name: openingHours.name,
      description: 'Tells when a place of the campus is open.',
      schema,
      status: (_, { language }) => localize(STATUS, language),
      run({ place }) {
        const hours = Object.hasOwn(HOURS, place) ? HOURS[place] : undefined;
        if (hours === undefined) throw new ToolError('unusable', 'Nothing is known of this place.');
        return Promise.resolve(`${place}: ${hours}`);
      },
    }),
};
