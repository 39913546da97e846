import type { Bootstrap } from './api.ts';

/** The bot's slash words as an administrator would have entered them in the app, for the composer. */
export const SLASH_WORDS: Bootstrap['slashWords'] = [
  { word: '/help', help: { en: 'What the bot can do', zh: '机器人能做什么' } },
  { word: '/new', help: { en: 'Start a new conversation', zh: '开始新对话' } },
  { word: '/stop', help: { en: 'Stop the answer that is growing', zh: '停止正在生成的回答' } },
  { word: '/retry', help: { en: 'Answer the last question again', zh: '重新回答上一个问题' } },
  { word: '/model', help: { en: 'Show or choose the model', zh: '查看或选择模型' } },
  { word: '/think', help: { en: 'Show or choose whether the model thinks first', zh: '查看或选择是否先思考' } },
  { word: '/lang', help: { en: 'Show or choose the language', zh: '查看或选择语言' } },
  { word: '/usage', help: { en: 'Show how much you have used', zh: '查看使用量' } },
  { word: '/sources', help: { en: 'Show what the last answer stands on', zh: '查看上一条回答的依据' } },
  { word: '/whoami', help: { en: 'Show who you are signed in as', zh: '查看当前登录身份' } },
  { word: '/signin', help: { en: 'Get a new sign-in link', zh: '获取新的登录链接' } },
  { word: '/unlink', help: { en: 'Sign out', zh: '退出登录' } },
  { word: '/export', help: { en: 'See what the bot keeps of your conversation', zh: '查看机器人保存的对话' } },
  {
    word: '/forget',
    help: { en: 'Delete what the bot keeps of you in this chat', zh: '删除机器人在此聊天中为你保存的内容' },
  },
];

/** Their Chinese spellings. */
export const CHINESE_SPELLINGS: NonNullable<Bootstrap['otherSpellings']> = {
  '/help': '/帮助',
  '/new': '/新对话',
  '/stop': '/停止',
  '/retry': '/重试',
  '/model': '/模型',
  '/think': '/思考',
  '/lang': '/语言',
  '/usage': '/用量',
  '/sources': '/来源',
  '/whoami': '/我是谁',
  '/signin': '/登录',
  '/unlink': '/解绑',
  '/export': '/导出',
  '/forget': '/清除',
};
