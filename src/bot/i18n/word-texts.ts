import type { Catalogue } from '../../shared/text/texts.ts';

/** One line per slash command, for /help. */
export const WORD_HELP = {
  help: { en: 'shows this help', zh: '显示帮助' },
  new: { en: 'starts a new conversation and forgets the last one', zh: '开始新的对话，不再参考之前的内容' },
  stop: { en: 'stops the answer', zh: '停止正在生成的回答' },
  retry: { en: 'answers the last question again', zh: '重新回答上一个问题' },
  model: { en: 'lists the models; `/model NAME` selects one', zh: '查看可用的模型；`模型 名称` 切换模型' },
  think: {
    en: 'sets the reasoning effort: `/think off|low|high|max|auto`',
    zh: '设置思考强度：`思考 关|低|高|最大|自动`',
  },
  lang: { en: 'sets the language of my replies: `/lang en|zh|auto`', zh: '设置回复语言：`语言 中文|英文|自动`' },
  usage: { en: 'shows your usage', zh: '查看你的用量' },
  sources: { en: 'shows the sources of my last answer', zh: '查看上一条回答的来源' },
  ref: { en: 'shows the reference of your last question, for a report', zh: '查看上一个问题的编号，便于反馈' },
  export: { en: 'exports our saved conversation', zh: '导出已保存的对话' },
  forget: { en: 'deletes your data in this chat', zh: '删除你在此聊天中的数据' },
  whoami: { en: 'shows who you are signed in as', zh: '查看当前登录的身份' },
  signin: { en: 'sends you a sign-in link', zh: '获取登录链接' },
  unlink: { en: 'signs you out and deletes your sign-in', zh: '退出登录并删除登录信息' },
} as const satisfies Catalogue<string>;

/** Texts of the commands that list or select something. */
export const WORD_TEXTS = {
  help: {
    en: 'Ask me anything in your own words. You can also send:\n\n{words}',
    zh: '有问题直接问我。还可以使用这些指令：\n\n{words}',
  },
  helpGroup: {
    en: 'Mention me with a question and I will answer here. After the mention you can also send:\n\n{words}\n\nTo sign in, message me privately.',
    zh: '在群里 @ 我并提问，我会在这里回答。@ 我之后也可以使用这些指令：\n\n{words}\n\n如需登录，请与我私聊。',
  },
  models: {
    en: 'Available models:\n\n{list}\n\nSelect one with `/model NAME`, or the default with `/model auto`.',
    zh: '可用的模型：\n\n{list}\n\n发送 `模型 名称` 切换，发送 `模型 自动` 恢复默认。',
  },
  modelLine: { en: '- `{name}`: {abilities}', zh: '- `{name}`：{abilities}' },
  modelLineChosen: { en: '- `{name}`: {abilities} (selected)', zh: '- `{name}`：{abilities}（当前）' },
  abilitySees: { en: 'reads images', zh: '支持图片' },
  abilityText: { en: 'text only', zh: '仅文字' },
  abilityThinks: { en: 'reasoning', zh: '支持思考' },
  abilityThinksBy: { en: 'reasoning effort {levels}', zh: '支持思考，强度可选 {levels}' },
  modelChosen: {
    en: '`{name}` now answers you in this chat.',
    zh: '此聊天现由 `{name}` 回答你。',
  },
  modelUsual: {
    en: 'The default model, `{name}`, answers you in this chat again.',
    zh: '此聊天已恢复使用默认模型 `{name}`。',
  },
  modelUnknown: {
    en: 'The model “{asked}” is not available to you here. Available: {list}.',
    zh: '模型“{asked}”不可用，可选 {list}。',
  },
  modelMeant: {
    en: 'The model “{asked}” is not available to you here. Did you mean `{meant}`? Available: {list}.',
    zh: '模型“{asked}”不可用，你要选的是 `{meant}` 吗？可选 {list}。',
  },
  levelOff: { en: 'off', zh: '关' },
  levelLow: { en: 'low', zh: '低' },
  levelHigh: { en: 'high', zh: '高' },
  levelMax: { en: 'max', zh: '最大' },
  thinkHow: {
    en: 'Change it with `/think off`, `/think low`, `/think high`, `/think max` or `/think auto`.',
    zh: '发送 `思考 关`、`思考 低`、`思考 高`、`思考 最大` 或 `思考 自动` 可以更改。',
  },
  thinkUnset: {
    en: 'Reasoning effort: automatic. The model decides whether to think first.',
    zh: '思考强度为自动：是否先思考由模型决定。',
  },
  thinkIs: {
    en: 'The reasoning effort in this chat is “{level}”.',
    zh: '此聊天的思考强度为“{level}”。',
  },
  thinkOff: { en: 'I will now answer without thinking first.', zh: '已关闭思考，我会直接回答。' },
  thinkOn: {
    en: 'I will now think before I answer, with effort “{level}”.',
    zh: '已开启思考，强度为“{level}”。',
  },
  thinkOnPlain: {
    en: 'I will now think before I answer. (`{model}` has no effort levels; “{level}” applies to models that do.)',
    zh: '已开启思考。（`{model}` 不分强度；“{level}”仅对区分强度的模型生效。）',
  },
  thinkOnNearest: {
    en: 'I will now think before I answer. (`{model}` uses other levels: “{level}” corresponds to “{nearest}”.)',
    zh: '已开启思考。（`{model}` 的强度分级不同：“{level}”对应“{nearest}”。）',
  },
  thinkNever: {
    en: '“{level}” is saved but has no effect yet: `{model}` does not support thinking. It applies once you select a model that does.',
    zh: '已保存“{level}”，但暂不生效：`{model}` 不支持思考，切换到支持思考的模型后生效。',
  },
  thinkUnknown: { en: 'There is no level “{asked}”.', zh: '没有“{asked}”这一档。' },
  langHow: {
    en: 'Change it with `/lang en`, `/lang zh` or `/lang auto`.',
    zh: '发送 `语言 中文`、`语言 英文` 或 `语言 自动` 可以更改。',
  },
  langAuto: {
    en: 'Automatic: I answer in the language that you write in.',
    zh: '自动：你用什么语言提问，我就用什么语言回答。',
  },
  langIs: { en: 'I reply in English in this chat.', zh: '此聊天中使用中文回复。' },
  langChosen: { en: 'OK, I will reply in English in this chat.', zh: '好的，我会用中文回复。' },
  langUnknown: { en: 'Only English and Chinese are supported.', zh: '目前只支持中文和英文。' },
} as const satisfies Catalogue<string>;
