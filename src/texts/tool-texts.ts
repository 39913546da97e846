import type { Catalogue } from '../base/texts.ts';

type ToolText = 'clock' | 'profile' | 'reading' | 'searching';
type ProfileText = 'name' | 'number' | 'identity' | 'department' | 'staff' | 'student' | 'other' | 'nobody';

/** What the model is told of who asks: in the person's language, since models quote it. */
export const PROFILE_TEXTS: Catalogue<ProfileText> = {
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
};

/** What a person reads while a tool runs. */
export const TOOL_TEXTS: Catalogue<ToolText> = {
  clock: { en: 'Looking at the clock …', zh: '正在查看时间……' },
  profile: { en: 'Looking up your sign-in …', zh: '正在查看你的登录信息……' },
  reading: { en: 'Reading {host} …', zh: '正在阅读 {host} ……' },
  searching: { en: 'Searching: {query}', zh: '正在搜索：{query}' },
};
