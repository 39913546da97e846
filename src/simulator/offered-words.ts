import type { Bootstrap } from './api.ts';

/** The bot's commands for the composer, as an administrator would have registered them in the app. */
export const SLASH_COMMANDS: Bootstrap['slashWords'] = [
  { word: '/help', help: { en: 'Show help', zh: '查看帮助' } },
  { word: '/new', help: { en: 'Start a new conversation', zh: '开始新对话' } },
  { word: '/stop', help: { en: 'Stop the current answer', zh: '停止正在生成的回答' } },
  { word: '/retry', help: { en: 'Answer the last question again', zh: '重新回答上一个问题' } },
  { word: '/model', help: { en: 'Show or select the model', zh: '查看或选择模型' } },
  { word: '/think', help: { en: 'Show or set the reasoning effort', zh: '查看或设置思考强度' } },
  { word: '/lang', help: { en: 'Show or set the language', zh: '查看或设置语言' } },
  { word: '/usage', help: { en: 'Show your usage', zh: '查看用量' } },
  { word: '/sources', help: { en: 'Show the sources of the last answer', zh: '查看上一条回答的来源' } },
  { word: '/ref', help: { en: 'Show the reference of your last question', zh: '查看上一个问题的编号' } },
  { word: '/whoami', help: { en: 'Show who you are signed in as', zh: '查看当前登录身份' } },
  { word: '/signin', help: { en: 'Get a new sign-in link', zh: '获取新的登录链接' } },
  { word: '/unlink', help: { en: 'Sign out', zh: '退出登录' } },
  { word: '/export', help: { en: 'Export your saved conversation', zh: '导出已保存的对话' } },
  {
    word: '/forget',
    help: { en: 'Delete your data in this chat', zh: '删除你在此聊天中的数据' },
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
  '/ref': '/编号',
  '/whoami': '/我是谁',
  '/signin': '/登录',
  '/unlink': '/解绑',
  '/export': '/导出',
  '/forget': '/清除',
};
