import type { Catalogue } from '../../shared/text/texts.ts';

/** Shown to people who open a webhook address in a browser. */
export const WEBHOOK_TEXTS: Catalogue<'openedByPerson'> = {
  openedByPerson: {
    en: "You have reached Parley. The messaging app delivers messages to this address; there is nothing to see in a browser. Administrators: save this address in the app's console.",
    zh: '已连接到 Parley。办公应用通过此地址投递消息，在浏览器中没有可查看的内容。管理员请将此地址填入该应用的管理后台。',
  },
};
