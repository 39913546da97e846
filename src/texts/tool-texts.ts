import type { Catalogue } from '../base/texts.ts';

/** What a person reads while a tool runs. */
export const TOOL_TEXTS: Catalogue<'clock' | 'profile' | 'reading' | 'searching'> = {
  clock: { en: 'Looking at the clock …', zh: '正在查看时间……' },
  profile: { en: 'Looking up your sign-in …', zh: '正在查看你的登录信息……' },
  reading: { en: 'Reading {host} …', zh: '正在阅读 {host} ……' },
  searching: { en: 'Searching: {query}', zh: '正在搜索：{query}' },
};
