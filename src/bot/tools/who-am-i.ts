import { z } from 'zod';
import { localize, type Bilingual, type Catalogue } from '../../shared/text/texts.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

export const whoAmI: ToolModule = { name: 'who_am_i', create: createWhoAmI };

const STATUS: Bilingual = { en: 'Looking up your sign-in …', zh: '正在查看你的登录信息……' };

/** Description of the person for the model, in the person's language, since models quote it. */
const PROFILE_TEXTS = {
  name: { en: 'Name', zh: '姓名' },
  number: { en: 'Staff or student number', zh: '学工号' },
  identity: { en: 'Identity', zh: '身份' },
  department: { en: 'Department', zh: '部门' },
  staff: { en: 'staff', zh: '教职工' },
  student: { en: 'student', zh: '学生' },
  other: { en: 'other', zh: '其他' },
  nobody: {
    en: 'Nobody is signed in here, so it is not known who asks.',
    zh: '当前没有登录，不知道提问者是谁。',
  },
} as const satisfies Catalogue<string>;

const IDENTITIES: Readonly<Record<string, Bilingual>> = {
  JG: PROFILE_TEXTS.staff,
  XS: PROFILE_TEXTS.student,
  QT: PROFILE_TEXTS.other,
};

/**
 * Returns the signed-in person's details from the profile (SERVICE.md profile), in private chats only
 * (SECURITY.md group-is-not-private).
 */
export function createWhoAmI(): Tool {
  return defineTool({
    name: whoAmI.name,
    description: 'Tells who the asking person is: name, number, identity type and department, as they are signed in.',
    schema: z.strictObject({}),
    isPrivateOnly: true,
    status: (_, { language }) => localize(STATUS, language),
    async run(_, { person, language }) {
      if (!person) return localize(PROFILE_TEXTS.nobody, language);
      const { name, accountId, identityCode, department, departmentName } = person;
      const identity = Object.hasOwn(IDENTITIES, identityCode) ? IDENTITIES[identityCode] : undefined;
      const lines = [
        ['name', name],
        ['number', accountId],
        ['identity', identity ? localize(identity, language) : identityCode],
        ['department', departmentName === '' ? department : `${departmentName} (${department})`],
      ] as const;
      const told = lines.filter(([, value]) => value !== '');
      return told.map(([label, value]) => `${localize(PROFILE_TEXTS[label], language)}: ${value}`).join('\n');
    },
  });
}
