import type { Catalogue } from '../../shared/text/texts.ts';

/** What a browser is told at an address that is for the messaging apps alone. */
export const WEBHOOK_TEXTS: Catalogue<'openedByPerson'> = {
  openedByPerson: {
    en: "You have reached Parley. The messaging app delivers messages to this address; there is nothing to see in a browser. Whoever sets Parley up saves this address in the app's console.",
    zh: '已连接到 Parley。办公应用通过此地址投递消息，在浏览器中打开没有内容可看。管理员请把此地址填入该应用的管理后台。',
  },
};
