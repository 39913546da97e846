import type { Catalogue } from '../../shared/text/texts.ts';

/** Shown to an administrator who installs the app in another workspace. */
export const INSTALL_TEXTS = {
  installed: {
    en: 'The app is installed in your workspace. You can message it there now.',
    zh: '应用已安装到你的工作区，可以开始给它发消息了。',
  },
  notInvited: {
    en: 'This workspace is not allowed to install the app. No data was saved.',
    zh: '此工作区不在允许安装的范围内，未保存任何数据。',
  },
  declined: {
    en: 'The app was not installed.',
    zh: '应用未安装。',
  },
  notBegunHere: {
    en: 'This installation was started in another browser or has expired. Please open the installation page again.',
    zh: '此次安装不是在当前浏览器中发起的，或已过期。请重新打开安装页面。',
  },
  refused: {
    en: 'The messaging app did not confirm the installation. Please open the installation page again.',
    zh: '办公应用未确认此次安装。请重新打开安装页面。',
  },
  away: {
    en: 'The installation could not be saved. Please open the installation page again in a minute.',
    zh: '暂时无法保存安装结果。请一分钟后重新打开安装页面。',
  },
} as const satisfies Catalogue<string>;
