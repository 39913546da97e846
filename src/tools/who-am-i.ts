import { z } from 'zod';
import { say } from '../base/texts.ts';
import { TOOL_TEXTS } from '../texts/tool-texts.ts';
import { defineTool, type Tool } from './tool.ts';

const IDENTITIES: Readonly<Record<string, string>> = { JG: 'staff', XS: 'student', QT: 'other' };

/** Tells who is signed in, from the profile (spec 2.6); in private chats only (security.md 6.2). */
export function createWhoAmI(): Tool {
  return defineTool({
    name: 'who_am_i',
    description: 'Tells who the asking person is: name, number, identity type and department, as they are signed in.',
    schema: z.strictObject({}),
    isPrivateOnly: true,
    status: (_, { language }) => say(TOOL_TEXTS.profile, language),
    async run(_, { person }) {
      if (!person) return 'Nobody is signed in here, so it is not known who asks.';
      const { name, accountId, identityCode, department, departmentName } = person;
      const lines = [
        ['Name', name],
        ['Staff or student number', accountId],
        ['Identity', IDENTITIES[identityCode] ?? identityCode],
        ['Department', departmentName === '' ? department : `${departmentName} (${department})`],
      ];
      return lines.flatMap(([label, value]) => (value === '' ? [] : [`${label}: ${value}`])).join('\n');
    },
  });
}
