import type { Catalogue } from '../../shared/text/texts.ts';

type ReplyText =
  | 'answeredBelow'
  | 'answeredAbove'
  | 'answering'
  | 'followsBelow'
  | 'goesOn'
  | 'earlierAnswer'
  | 'restOfAnswer'
  | 'tookTooLong'
  | 'unknownReply'
  | 'nothingWaits'
  | 'edited'
  | 'editedLast'
  | 'tooMany'
  | 'stopTaken'
  | 'cut'
  | 'couldAsk'
  | 'notTaken'
  | 'restInFile'
  | 'wholeAsFile'
  | 'welcome';

/** What a live reply says by itself. Texts that may meet a person whose language we cannot tell hold both. */
export const REPLY_TEXTS: Catalogue<ReplyText> = {
  answeredBelow: { en: '↓ answered below', zh: '↓ 回答在下方' },
  answeredAbove: { en: '↑ answered above\n↑ 回答在上方', zh: '↑ 回答在上方\n↑ answered above' },
  // Slack puts the app's name before it.
  answering: { en: 'is writing an answer…', zh: '正在回答…' },
  followsBelow: {
    en: 'This needs more time. I will send the answer as a new message, or else with my next answer in our private chat.\n这个回答需要更多时间，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。',
    zh: '这个回答需要更多时间，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。\nThis needs more time. I will send the answer as a new message, or else with my next answer in our private chat.',
  },
  goesOn: {
    en: '… (I will send the rest as a new message, or else with my next answer in our private chat)',
    zh: '……（其余内容稍后另发一条消息；若未收到，会随我在私聊中的下一条回复发出）',
  },
  earlierAnswer: { en: 'The answer to an earlier question:', zh: '对之前一个问题的回答：' },
  restOfAnswer: { en: 'The rest of an earlier answer:', zh: '之前一个回答的其余内容：' },
  nothingWaits: {
    en: 'The question was deleted, so nothing waits here for a sign-in any more.\n问题已删除，这里不再有等待登录的问题。',
    zh: '问题已删除，这里不再有等待登录的问题。\nThe question was deleted, so nothing waits here for a sign-in any more.',
  },
  editedLast: {
    en: 'You changed a question that is answered already. Send /retry to have it answered as it reads now.',
    zh: '你修改了一个已经回答过的问题。发送“重试”，会按修改后的内容重新回答。',
  },
  edited: {
    en: 'You changed a question that is answered already. To have it answered as it reads now, send it as a new message.',
    zh: '你修改了一个已经回答过的问题。要按修改后的内容回答，请把它作为新消息再发一次。',
  },
  tookTooLong: {
    en: 'This needed more time than a message can stay open here. Please send /retry.\n这个回答超过了时限，请发送“重试”。',
    zh: '这个回答超过了时限，请发送“重试”。\nThis needed more time than a message can stay open here. Please send /retry.',
  },
  unknownReply: {
    en: 'This answer is no longer available. Please ask again.\n这条回答已不可用，请重新提问。',
    zh: '这条回答已不可用，请重新提问。\nThis answer is no longer available. Please ask again.',
  },
  tooMany: {
    en: 'Too many messages in one minute. Please wait a moment and send this one again.',
    zh: '一分钟内消息太多了，请稍等片刻再发送这一条。',
  },
  stopTaken: { en: 'Your answers here are stopped.', zh: '已停止你在此处的回答。' },
  cut: { en: '… (the rest is too long to be shown here)', zh: '……（其余内容过长，无法在此显示）' },
  notTaken: {
    en: 'I could not show the answer here because the app did not accept the message. Please ask again later.',
    zh: '办公应用未接受这条消息，回答无法在此显示，请稍后重新提问。',
  },
  restInFile: {
    en: 'This is the beginning. The whole answer is in the file {name} below.',
    zh: '以上是开头部分，完整回答见下方的文件 {name}。',
  },
  wholeAsFile: {
    en: '… (the whole answer follows as the file {name}, or else as messages)',
    zh: '……（完整回答随后以文件 {name} 发出；若无法发送，则另发消息）',
  },
  couldAsk: { en: 'You could ask, for example:', zh: '比如可以这样问：' },
  welcome: {
    en: 'Hello, I am {bot}. Ask me anything; /help shows what else I can do.\n你好，我是 {bot}。有问题直接问我，发送“帮助”查看更多功能。',
    zh: '你好，我是 {bot}。有问题直接问我，发送“帮助”查看更多功能。\nHello, I am {bot}. Ask me anything; /help shows what else I can do.',
  },
};
