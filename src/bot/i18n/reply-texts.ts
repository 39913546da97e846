import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts of live replies. Texts for users of unknown language contain both languages. */
export const REPLY_TEXTS = {
  answeredBelow: { en: '↓ answered below', zh: '↓ 回答在下方' },
  answeredAbove: { en: '↑ answered above\n↑ 回答在上方', zh: '↑ 回答在上方\n↑ answered above' },
  // Slack prefixes it with the app's name.
  answering: { en: 'is writing an answer…', zh: '正在回答…' },
  followsBelow: {
    en: 'This needs more time. I will send the answer as a new message; if that fails, you will get it with my next reply in our private chat.\n这个回答需要更多时间，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。',
    zh: '这个回答需要更多时间，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。\nThis needs more time. I will send the answer as a new message; if that fails, you will get it with my next reply in our private chat.',
  },
  movedBelow: {
    en: 'The app did not accept the answer here. I will send it as a new message; if that fails, you will get it with my next reply in our private chat.\n这里无法显示回答，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。',
    zh: '这里无法显示回答，稍后会另发一条消息；若未收到，会随我在私聊中的下一条回复发出。\nThe app did not accept the answer here. I will send it as a new message; if that fails, you will get it with my next reply in our private chat.',
  },
  goesOn: {
    en: '… (I will send the rest as a new message; if that fails, you will get it with my next reply in our private chat)',
    zh: '……（其余内容稍后另发一条消息；若未收到，会随我在私聊中的下一条回复发出）',
  },
  aiMark: { en: 'AI-generated', zh: '由 AI 生成' },
  earlierAnswer: { en: 'The answer to an earlier question:', zh: '对之前一个问题的回答：' },
  restOfAnswer: { en: 'The rest of an earlier answer:', zh: '之前一个回答的其余内容：' },
  nothingWaits: {
    en: 'The question was deleted, so nothing here is waiting for a sign-in.\n问题已删除，这里没有等待登录的问题。',
    zh: '问题已删除，这里没有等待登录的问题。\nThe question was deleted, so nothing here is waiting for a sign-in.',
  },
  editedLast: {
    en: 'You edited a question that was already answered. Send /retry to get an answer to the new text.',
    zh: '你修改了已回答的问题。发送“重试”可按修改后的内容重新回答。',
  },
  edited: {
    en: 'You edited a question that was already answered. To get an answer to the new text, send it as a new message.',
    zh: '你修改了已回答的问题。如需按修改后的内容回答，请作为新消息重新发送。',
  },
  tookTooLong: {
    en: 'This took longer than the app allows. Please send /retry.\n这个回答超过了时限，请发送“重试”。',
    zh: '这个回答超过了时限，请发送“重试”。\nThis took longer than the app allows. Please send /retry.',
  },
  unknownReply: {
    en: 'This answer is no longer available. Please ask again.\n这条回答已不可用，请重新提问。',
    zh: '这条回答已不可用，请重新提问。\nThis answer is no longer available. Please ask again.',
  },
  tooMany: {
    en: 'Too many messages in one minute. Please wait a moment and send this one again.',
    zh: '消息发送过于频繁，请稍等片刻再发送这一条。',
  },
  inboxFull: {
    en: 'Too many messages are already waiting here. Please send this one again once some have been answered.',
    zh: '等待回答的消息过多，请在前面的消息得到回答后重新发送这一条。',
  },
  stopTaken: { en: 'I have stopped your answers here.', zh: '已停止你在此处的回答。' },
  cut: { en: '… (the rest is too long to show here)', zh: '……（其余内容过长，无法在此显示）' },
  notTaken: {
    en: 'The app did not accept the message, so I could not show the answer here. Please ask again later.',
    zh: '办公应用未接受这条消息，无法显示回答，请稍后重新提问。',
  },
  restInFile: {
    en: 'This is the beginning. The full answer is in the file {name} below.',
    zh: '以上是开头部分，完整回答见下方的文件 {name}。',
  },
  wholeAsFile: {
    en: '… (the full answer follows as the file {name}; if that fails, as messages)',
    zh: '……（完整回答随后以文件 {name} 发出；若无法发送，则另发消息）',
  },
  couldAsk: { en: 'For example, you can ask:', zh: '你可以这样问：' },
  welcome: {
    en: 'Hello, I am {bot}. Ask me anything, or send /help to see what else I can do.\n你好，我是 {bot}。有问题直接问我，发送“帮助”查看更多功能。',
    zh: '你好，我是 {bot}。有问题直接问我，发送“帮助”查看更多功能。\nHello, I am {bot}. Ask me anything, or send /help to see what else I can do.',
  },
} as const satisfies Catalogue<string>;
