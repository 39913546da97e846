import type { Catalogue } from '../base/texts.ts';

/** What each slash word does, a line each, for /help. */
export const WORD_HELP = {
  help: { en: 'shows this', zh: '显示本说明' },
  new: { en: 'starts a new conversation', zh: '开始新的对话' },
  stop: { en: 'stops the answer', zh: '停止正在写的回答' },
  retry: { en: 'asks the last question again', zh: '重新回答上一个问题' },
  model: {
    en: 'shows the models; `/model NAME` chooses one',
    zh: '查看可用的模型，`/模型 名称` 选择其中一个',
  },
  think: {
    en: 'says whether I think first; `/think off|low|high|max` chooses',
    zh: '查看回答前是否思考，`/思考 关|低|高|最大` 选择',
  },
  lang: {
    en: 'says in which language I speak; `/lang en|zh|auto` chooses',
    zh: '查看我说的语言，`/语言 中文|英文|自动` 选择',
  },
  usage: { en: 'shows how much you asked', zh: '查看你的用量' },
  export: { en: 'shows what I keep of our conversation', zh: '查看我保存的对话' },
  forget: { en: 'deletes what I keep of you in this chat', zh: '删除我在此聊天中为你保存的内容' },
  whoami: { en: 'shows who you are to me', zh: '查看你登录的身份' },
  signin: { en: 'signs you in', zh: '登录' },
  unlink: { en: 'signs you out', zh: '取消登录' },
} as const satisfies Catalogue<string>;

/** What the words say that list or choose something. */
export const WORD_TEXTS = {
  help: {
    en: 'Ask me anything in your own words. I also know:\n\n{words}',
    zh: '有问题直接问我。我还认识这些词：\n\n{words}',
  },
  helpGroup: {
    en: 'Mention me with a question and I answer here. After the mention, these words work too:\n\n{words}\n\nSigning in works in our private chat.',
    zh: '在群里 @我 并提问，我就在这里回答。@我 之后也可以用这些词：\n\n{words}\n\n登录请在与我的私聊中进行。',
  },
  models: {
    en: 'These models can answer you here:\n\n{list}\n\nChoose one with `/model NAME`.',
    zh: '在这里可以由这些模型回答你：\n\n{list}\n\n发送 `/模型 名称` 选择。',
  },
  modelLine: { en: '- `{name}`: {abilities}', zh: '- `{name}`：{abilities}' },
  modelLineChosen: { en: '- `{name}`: {abilities} (answers you now)', zh: '- `{name}`：{abilities}（当前）' },
  abilitySees: { en: 'sees images', zh: '能看图片' },
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
    en: 'Choose with `/think off`, `/think low`, `/think high` or `/think max`.',
    zh: '可以发送 `/思考 关`、`/思考 低`、`/思考 高` 或 `/思考 最大`。',
  },
  thinkUnset: {
    en: 'Nothing is chosen for this chat: the chat service decides whether I think before I answer.',
    zh: '此聊天没有选择：回答前是否思考，由对话服务决定。',
  },
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
    en: 'From now on I think before I answer. `{model}` has no levels of effort, so it just thinks; “{level}” counts for models that have them.',
    zh: '从现在起，我先思考再回答。`{model}` 不分思考强度，所以只是思考；“{level}”对有强度的模型才起作用。',
  },
  thinkUnknown: { en: 'I do not know the level “{asked}”.', zh: '没有“{asked}”这一档。' },
  langHow: {
    en: 'Choose with `/lang en`, `/lang zh` or `/lang auto`.',
    zh: '可以发送 `/语言 中文`、`/语言 英文` 或 `/语言 自动`。',
  },
  langAuto: { en: 'I speak the language that you write in.', zh: '你用哪种语言写，我就用哪种语言说。' },
  langChosen: { en: 'I speak English to you in this chat.', zh: '在此聊天中，我对你说中文。' },
  langUnknown: {
    en: 'I speak English and Chinese only, not “{asked}”.',
    zh: '我只会中文和英文，不会“{asked}”。',
  },
} as const satisfies Catalogue<string>;
