import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about budgets. `{amount}` is one of the amounts. */
export const BUDGET_TEXTS = {
  amountQuestions: { en: '{most} {most:question|questions}', zh: '{most} 次提问' },
  amountTokens: { en: '{most} tokens', zh: '{most} tokens' },
  amountImages: { en: '{most} {most:image|images}', zh: '{most} 张图片' },
  personUsedUpPerDay: {
    en: 'You have used up your budget for today ({amount}). You can ask again tomorrow.',
    zh: '你今天的额度（{amount}）已用完，明天可以继续提问。',
  },
  personUsedUpPerMonth: {
    en: 'You have used up your budget for this month ({amount}). You can ask again next month.',
    zh: '你本月的额度（{amount}）已用完，下个月可以继续提问。',
  },
  departmentUsedUpPerDay: {
    en: 'Your department has used up its budget for today ({amount}). You can ask again tomorrow.',
    zh: '你所在部门今天的额度（{amount}）已用完，明天可以继续提问。',
  },
  departmentUsedUpPerMonth: {
    en: 'Your department has used up its budget for this month ({amount}). You can ask again next month.',
    zh: '你所在部门本月的额度（{amount}）已用完，下个月可以继续提问。',
  },
  groupUsedUpPerDay: {
    en: 'This group has used up its budget for today ({amount}). You can ask again tomorrow.',
    zh: '本群今天的额度（{amount}）已用完，明天可以继续提问。',
  },
  groupUsedUpPerMonth: {
    en: 'This group has used up its budget for this month ({amount}). You can ask again next month.',
    zh: '本群本月的额度（{amount}）已用完，下个月可以继续提问。',
  },
  modelUsedUpPerDay: {
    en: 'The budget of the model {code} for today ({amount}) is used up. Choose another model (/model) or ask again tomorrow.',
    zh: '模型 {code} 今天的额度（{amount}）已用完，请换一个模型（发送“模型”），或明天再提问。',
  },
  modelUsedUpPerMonth: {
    en: 'The budget of the model {code} for this month ({amount}) is used up. Choose another model (/model) or ask again next month.',
    zh: '模型 {code} 本月的额度（{amount}）已用完，请换一个模型（发送“模型”），或下个月再提问。',
  },
  usedUpInGroup: {
    en: 'I cannot answer this here, because a budget is used up. Ask me in a private chat to learn more.',
    zh: '额度已用完，无法在此回答。请私聊我了解详情。',
  },
  inProgress: {
    en: 'What is left of the budget is reserved for questions in progress. Please ask again in a moment.',
    zh: '剩余额度已预留给正在处理的问题，请稍后再问。',
  },
  nearPerDay: {
    en: 'You have used most of your budget for today: {amount} (/usage).',
    zh: '你今天的额度（{amount}）已用掉大部分（发送“用量”可查看）。',
  },
  nearPerMonth: {
    en: 'You have used most of your budget for this month: {amount} (/usage).',
    zh: '你本月的额度（{amount}）已用掉大部分（发送“用量”可查看）。',
  },
  personLeftPerDay: { en: 'Left today: {left} of {amount}.', zh: '今天剩余 {left}（共 {amount}）。' },
  personLeftPerMonth: { en: 'Left this month: {left} of {amount}.', zh: '本月剩余 {left}（共 {amount}）。' },
  departmentLeftPerDay: {
    en: 'Left for your department today: {left} of {amount}.',
    zh: '所在部门今天剩余 {left}（共 {amount}）。',
  },
  departmentLeftPerMonth: {
    en: 'Left for your department this month: {left} of {amount}.',
    zh: '所在部门本月剩余 {left}（共 {amount}）。',
  },
  modelLeftPerDay: {
    en: 'Left for the model {code} today: {left} of {amount}.',
    zh: '模型 {code} 今天剩余 {left}（共 {amount}）。',
  },
  modelLeftPerMonth: {
    en: 'Left for the model {code} this month: {left} of {amount}.',
    zh: '模型 {code} 本月剩余 {left}（共 {amount}）。',
  },
} as const satisfies Catalogue<string>;
