import { z } from 'zod';
import { say, type Bilingual } from '../base/texts.ts';
import { PROFILE_TEXTS, TOOL_TEXTS } from '../texts/tool-texts.ts';
import { defineTool, type Tool } from './tool.ts';

const IDENTITIES: Readonly<Record<string, Bilingual>> = {
  JG: PROFILE_TEXTS.staff,
  XS: PROFILE_TEXTS.student,
  QT: PROFILE_TEXTS.other,
};

/** Tells who is signed in, from the profile (SERVICE.md profile); in private chats only (SECURITY.md group-is-not-private). */
export function createWhoAmI(): Tool {
  return defineTool({
    name: 'who_am_i',
    description: 'Tells who the asking person is: name, number, identity type and department, as they are signed in.',
    schema: z.strictObject({}),
    isPrivateOnly: true,
    status: (_, { language }) => say(TOOL_TEXTS.profile, language),
    async run(_, { person, language }) {
      if (!person) return say(PROFILE_TEXTS.nobody, language);
      const { name, accountId, identityCode, department, departmentName } = person;
      const identity = Object.hasOwn(IDENTITIES, identityCode) ? IDENTITIES[identityCode] : undefined;
      const lines = [
        ['name', name],
        ['number', accountId],
        ['identity', identity ? say(identity, language) : identityCode],
        ['department', departmentName === '' ? department : `${departmentName} (${department})`],
      ] as const;
      const told = lines.filter(([, value]) => value !== '');
      return told.map(([label, value]) => `${say(PROFILE_TEXTS[label], language)}: ${value}`).join('\n');
    },
  });
}
