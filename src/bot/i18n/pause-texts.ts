import type { Catalogue } from '../../shared/text/texts.ts';

/** What people read while an administrator has paused the bot, a part of it, or a model. */
export const PAUSE_TEXTS = {
  all: {
    en: 'The administrators have paused me. Please ask again later.',
    zh: '管理员已暂停机器人的服务，请稍后再问。',
  },
  platform: {
    en: 'The administrators have paused me in this app. Please ask again later.',
    zh: '管理员已暂停机器人在本应用中的服务，请稍后再问。',
  },
  group: {
    en: 'The administrators have paused me in this group. Please ask again later.',
    zh: '管理员已暂停机器人在本群的服务，请稍后再问。',
  },
  model: {
    en: 'The administrators have paused the model {model}. Choose another model (/model) or ask again later.',
    zh: '管理员已暂停模型 {model}，请换一个模型（发送“模型”），或稍后再问。',
  },
  onlyModel: {
    en: 'The administrators have paused the model {model}. Please ask again later.',
    zh: '管理员已暂停模型 {model}，请稍后再问。',
  },
} as const satisfies Catalogue<string>;
