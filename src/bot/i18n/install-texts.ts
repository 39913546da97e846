import type { Catalogue } from '../../shared/text/texts.ts';

type Key = 'installed' | 'notInvited' | 'declined' | 'notBegunHere' | 'refused' | 'away';

/** What an administrator reads who adds the app to a further workspace. */
export const INSTALL_TEXTS: Catalogue<Key> = {
  installed: {
    en: 'The app is installed in your workspace. Write to it there.',
    zh: '应用已安装到你的工作区，可以在那里给它发消息了。',
  },
  notInvited: {
    en: 'This workspace is not one of those that may have the app. Nothing was kept.',
    zh: '这个工作区不在允许安装的范围之内，没有保留任何内容。',
  },
  declined: {
    en: 'The app was not installed.',
    zh: '应用没有安装。',
  },
  notBegunHere: {
    en: 'This installation was not begun in this browser, or too long ago. Open the installation page again.',
    zh: '这次安装不是在这个浏览器里开始的，或者间隔太久。请重新打开安装页面。',
  },
  refused: {
    en: 'The messaging app did not confirm the installation. Open the installation page again.',
    zh: '办公应用没有确认这次安装。请重新打开安装页面。',
  },
  away: {
    en: 'The installation could not be kept just now. Open the installation page again in a minute.',
    zh: '安装结果暂时无法保存。请过一分钟重新打开安装页面。',
  },
};
