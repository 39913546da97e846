import type { Catalogue } from '../../shared/text/texts.ts';

type OfLimit<Limit extends string> = `${'usedUp' | 'near' | 'left'}${Limit}` | `departmentUsedUp${Limit}`;
type BudgetText =
  OfLimit<'QuestionsPerDay'> | OfLimit<'TokensPerDay'> | OfLimit<'TokensPerMonth'> | 'usedUpInGroup' | 'inProgress';

/** Texts about budgets. */
export const BUDGET_TEXTS: Catalogue<BudgetText> = {
  usedUpQuestionsPerDay: {
    en: 'You have asked your {most} {most:question|questions} for today. You can ask again tomorrow.',
    zh: '你今天的 {most} 次提问额度已用完，明天可以继续提问。',
  },
  usedUpTokensPerDay: {
    en: 'You have used up your budget for today ({most} tokens). You can ask again tomorrow.',
    zh: '你今天的额度（{most} tokens）已用完，明天可以继续提问。',
  },
  usedUpTokensPerMonth: {
    en: 'You have used up your budget for this month ({most} tokens). You can ask again next month.',
    zh: '你本月的额度（{most} tokens）已用完，下个月可以继续提问。',
  },
  departmentUsedUpQuestionsPerDay: {
    en: 'Your department has asked its {most} {most:question|questions} for today. You can ask again tomorrow.',
    zh: '你所在部门今天的 {most} 次提问额度已用完，明天可以继续提问。',
  },
  departmentUsedUpTokensPerDay: {
    en: 'Your department has used up its budget for today ({most} tokens). You can ask again tomorrow.',
    zh: '你所在部门今天的额度（{most} tokens）已用完，明天可以继续提问。',
  },
  departmentUsedUpTokensPerMonth: {
    en: 'Your department has used up its budget for this month ({most} tokens). You can ask again next month.',
    zh: '你所在部门本月的额度（{most} tokens）已用完，下个月可以继续提问。',
  },
  usedUpInGroup: {
    en: 'I cannot answer this here, because a budget is used up. Ask me in a private chat to learn more.',
    zh: '额度已用完，无法在此回答。请私聊我了解详情。',
  },
  inProgress: {
    en: 'What is left of the budget is reserved for questions in progress. Please ask again in a moment.',
    zh: '剩余额度已预留给正在处理的问题，请稍后再问。',
  },
  nearQuestionsPerDay: {
    en: 'You have asked most of your {most} {most:question|questions} for today (/usage).',
    zh: '你今天的 {most} 次提问额度已用掉大部分（发送“用量”可查看）。',
  },
  nearTokensPerDay: {
    en: 'You have used most of your budget for today (/usage).',
    zh: '你今天的额度已用掉大部分（发送“用量”可查看）。',
  },
  nearTokensPerMonth: {
    en: 'You have used most of your budget for this month (/usage).',
    zh: '你本月的额度已用掉大部分（发送“用量”可查看）。',
  },
  leftQuestionsPerDay: {
    en: 'Left today: {left} of {most} {most:question|questions}.',
    zh: '今天还可提问 {left} 次（共 {most} 次）。',
  },
  leftTokensPerDay: {
    en: 'Left today: {left} of {most} tokens.',
    zh: '今天剩余 {left} tokens（共 {most}）。',
  },
  leftTokensPerMonth: {
    en: 'Left this month: {left} of {most} tokens.',
    zh: '本月剩余 {left} tokens（共 {most}）。',
  },
};
