import type { Catalogue } from '../../shared/text/texts.ts';

/** Shown to people who open a webhook address in a browser. */
export const WEBHOOK_TEXTS = {
  title: { en: 'Ask the bot in {platform}', zh: '在{platform}中使用机器人' },
  how: {
    en: 'The bot answers your questions in {platform}. Open its chat there and ask in your own words. In a group, mention it with your question.',
    zh: '机器人在{platform}中回答你的问题。与它私聊时直接提问；在群聊中，请 @ 它并写下问题。',
  },
  words: { en: 'You can also send', zh: '还可以发送这些指令' },
  helpWord: { en: 'lists everything that you can send', zh: '查看全部指令' },
  help: { en: 'More help', zh: '更多帮助' },
  administrators: {
    en: "Administrators: {platform} delivers messages to this address. Save it in the app's console.",
    zh: '管理员：{platform}通过此地址投递消息，请将此地址填入该应用的管理后台。',
  },
} as const satisfies Catalogue<string>;
