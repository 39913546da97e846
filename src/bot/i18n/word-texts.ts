import type { Catalogue } from '../../shared/text/texts.ts';

/** What each slash word does, a line each, for /help. */
export const WORD_HELP = {
  help: { en: 'shows this', zh: '显示本说明' },
  new: { en: 'starts a new conversation and forgets the last one', zh: '开始新的对话，不再参考之前的内容' },
  stop: { en: 'stops the answer', zh: '停止正在生成的回答' },
  retry: { en: 'asks the last question again', zh: '重新回答上一个问题' },
  model: { en: 'shows the models; `/model NAME` chooses one', zh: '查看可用的模型；`模型 名称` 选择其中一个' },
  think: {
    en: 'turns thinking before an answer on or off: `/think off|low|high|max`',
    zh: '设置回答前是否先思考：`思考 关|低|高|最大`',
  },
  lang: { en: 'sets the language that I speak: `/lang en|zh|auto`', zh: '设置我使用的语言：`语言 中文|英文|自动`' },
  usage: { en: 'shows your usage', zh: '查看你的用量' },
  sources: { en: 'shows the documents that my last answer stands on', zh: '查看上一条回答依据的文档' },
  export: { en: 'shows what I keep of our conversation', zh: '查看我保存的对话' },
  forget: { en: 'deletes what I keep of you in this chat', zh: '删除我在此聊天中为你保存的内容' },
  whoami: { en: 'shows who you are signed in as', zh: '查看当前登录的身份' },
  signin: { en: 'sends you a sign-in link', zh: '获取登录链接' },
  unlink: { en: 'signs you out and deletes your sign-in', zh: '退出登录并删除登录信息' },
} as const satisfies Catalogue<string>;

/** What the words say that list or choose something. */
export const WORD_TEXTS = {
  help: {
    en: 'Ask me anything in your own words. You can also send:\n\n{words}',
    zh: '有问题直接问我。还可以使用这些指令：\n\n{words}',
  },
  helpGroup: {
    en: 'Mention me with a question and I answer here. After the mention you can also send:\n\n{words}\n\nTo sign in, write to me privately.',
    zh: '在群里 @ 我并提问，我就在这里回答。@ 我之后也可以使用这些指令：\n\n{words}\n\n登录请在与我的私聊中进行。',
  },
  models: {
    en: 'These models can answer you here:\n\n{list}\n\nChoose one with `/model NAME`.',
    zh: '在这里可以使用以下模型：\n\n{list}\n\n发送 `模型 名称` 选择。',
  },
  modelLine: { en: '- `{name}`: {abilities}', zh: '- `{name}`：{abilities}' },
  modelLineChosen: { en: '- `{name}`: {abilities} (answers you now)', zh: '- `{name}`：{abilities}（当前）' },
  abilitySees: { en: 'sees images', zh: '能看图片' },
  abilityText: { en: 'answers in text', zh: '文字问答' },
  abilityThinks: { en: 'thinks', zh: '能思考' },
  abilityThinksBy: { en: 'thinks, with effort {levels}', zh: '能思考，强度可选 {levels}' },
  modelChosen: {
    en: 'From now on `{name}` answers you in this chat.',
    zh: '从现在起，此聊天中由 `{name}` 回答你。',
  },
  modelUsual: {
    en: 'The usual model, `{name}`, answers you in this chat again.',
    zh: '此聊天中恢复由默认模型 `{name}` 回答你。',
  },
  modelUnknown: {
    en: 'There is no model “{asked}” for you here. You can choose {list}.',
    zh: '你在这里没有可用的模型“{asked}”，可以选择 {list}。',
  },
  modelMeant: {
    en: 'There is no model “{asked}” for you here. Did you mean `{meant}`? You can choose {list}.',
    zh: '你在这里没有可用的模型“{asked}”，你要的是 `{meant}` 吗？可以选择 {list}。',
  },
  levelOff: { en: 'off', zh: '关' },
  levelLow: { en: 'low', zh: '低' },
  levelHigh: { en: 'high', zh: '高' },
  levelMax: { en: 'max', zh: '最大' },
  thinkHow: {
    en: 'Change it with `/think off`, `/think low`, `/think high` or `/think max`.',
    zh: '发送 `思考 关`、`思考 低`、`思考 高` 或 `思考 最大` 可以更改。',
  },
  thinkUnset: { en: 'Automatic: the model decides whether to think first.', zh: '当前为自动：是否先思考由模型决定。' },
  thinkIs: {
    en: 'Thinking before an answer is set to “{level}” in this chat.',
    zh: '此聊天中，回答前的思考设为“{level}”。',
  },
  thinkOff: { en: 'From now on I answer without thinking first.', zh: '从现在起，我直接回答，不先思考。' },
  thinkOn: {
    en: 'From now on I think before I answer, with effort “{level}”.',
    zh: '从现在起，我先思考再回答，强度为“{level}”。',
  },
  thinkOnPlain: {
    en: 'From now on I think before I answer. (`{model}` has no levels; “{level}” applies to models that do.)',
    zh: '从现在起，我先思考再回答。（`{model}` 不分强度；“{level}”只对分强度的模型有效。）',
  },
  thinkOnNearest: {
    en: 'From now on I think before I answer. (`{model}` names its levels otherwise: “{level}” is its “{nearest}”.)',
    zh: '从现在起，我先思考再回答。（`{model}` 的分档不同：“{level}”对应它的“{nearest}”。）',
  },
  thinkNever: {
    en: 'Kept: “{level}”. It makes no difference yet: `{model}` cannot be asked to think; models that can will.',
    zh: '已记下“{level}”。目前没有变化：`{model}` 不支持思考；换成支持思考的模型后生效。',
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
  langIs: { en: 'I speak English in this chat.', zh: '此聊天中使用中文。' },
  langChosen: { en: 'OK, English in this chat.', zh: '好的，我会用中文回复。' },
  langUnknown: { en: 'I speak only English and Chinese so far.', zh: '目前只支持中文和英文。' },
} as const satisfies Catalogue<string>;
