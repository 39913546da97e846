import type { Catalogue } from '../base/texts.ts';

type TurnText =
  | 'newConversation'
  | 'stopped'
  | 'nothingToStop'
  | 'nothingToRetry'
  | 'whoLinked'
  | 'whoUnlinked'
  | 'whoPlatform'
  | 'privateOnly'
  | 'tooManyInvitations'
  | 'alreadyLinked'
  | 'signInOff'
  | 'notLinked'
  | 'suspended'
  | 'notHere'
  | 'groupsOnly'
  | 'mayNotUse'
  | 'mayNotUseHelp'
  | 'released'
  | 'thinking'
  | 'unsupported'
  | 'chatRefusedQuestion'
  | 'chatDown'
  | 'chatBusy'
  | 'chatTooLong'
  | 'fallbackAnswers'
  | 'queueBusy'
  | 'internal'
  | 'interrupted'
  | 'lengthReached'
  | 'emptyAnswer'
  | 'expired'
  | 'deadLetter'
  | 'unreadable'
  | 'linkedNotice'
  | 'otherPersonNotice'
  | 'conversationEnded'
  | 'startedAfresh'
  | 'conflictNotice'
  | 'signInAgainNotice'
  | 'signInLostNotice'
  | 'codeSeenNotice'
  | 'codeWrong'
  | 'codeWrongLast'
  | 'codeExpired'
  | 'codeNotAwaited'
  | 'codeInGroup'
  | 'codeFailed'
  | 'chatLinkedElsewhere'
  | 'accountLinkedElsewhere';

/** What the bot itself says in the chat. */
export const TURN_TEXTS: Catalogue<TurnText> = {
  newConversation: {
    en: 'A new conversation starts here. I have forgotten what we said before.',
    zh: '新的对话开始了，之前的内容我已忘记。',
  },
  stopped: { en: 'Stopped.', zh: '已停止。' },
  nothingToStop: { en: 'There is nothing to stop.', zh: '现在没有正在写的回答。' },
  nothingToRetry: { en: 'There is no question yet that I could answer again.', zh: '还没有可以重试的问题。' },
  whoLinked: { en: 'You are signed in as {name} ({id}).', zh: '你已登录：{name}（{id}）。' },
  whoUnlinked: { en: 'Nobody is signed in here. Send /signin to sign in.', zh: '当前没有登录，发送“登录”即可登录。' },
  whoPlatform: { en: 'Sign-in is not used here. You are {id} to me.', zh: '此处无需登录，你的标识是 {id}。' },
  privateOnly: { en: 'Please send this to me in our private chat.', zh: '请在与我的私聊中发送。' },
  tooManyInvitations: {
    en: 'Too many sign-in links were asked for. Please try again in {minutes} minutes.',
    zh: '获取登录链接的次数过多，请 {minutes} 分钟后再试。',
  },
  alreadyLinked: {
    en: 'You are already signed in as {name} ({id}). Send /unlink first to sign in as somebody else.',
    zh: '你已登录：{name}（{id}）。如需更换身份，请先发送“解绑”。',
  },
  signInOff: { en: 'Sign-in is not used here; just ask.', zh: '此处无需登录，直接提问即可。' },
  notLinked: { en: 'Nobody is signed in here, so there is nothing to undo.', zh: '当前没有登录，无需解绑。' },
  suspended: {
    en: 'Your account could not be confirmed any more, so I cannot answer. Please contact the help desk, or send /unlink and sign in again.',
    zh: '你的账号暂时无法确认，因此我不能回答。请联系服务台，或发送“解绑”后重新登录。',
  },
  notHere: {
    en: 'I cannot answer this here. Please write to me privately.',
    zh: '我在这里不能回答，请与我私聊。',
  },
  groupsOnly: {
    en: 'I can answer you in certain groups only, not in our private chat. Please mention me there.',
    zh: '我只能在指定的群里回答你，不能在私聊中回答。请在群里 @我 提问。',
  },
  mayNotUse: {
    en: 'Your account may not use me, so I cannot answer. If you think it should, please ask the help desk.',
    zh: '你的账号没有使用权限，因此我不能回答。如有疑问，请联系服务台。',
  },
  mayNotUseHelp: {
    en: 'Your account may not use me, so I cannot answer. If you think it should, please ask the help desk: {help}',
    zh: '你的账号没有使用权限，因此我不能回答。如有疑问，请联系服务台：{help}',
  },
  released: { en: 'You are signed in. Your question is being answered …', zh: '登录成功，正在回答你的问题……' },
  thinking: { en: 'Thinking, {seconds} s', zh: '思考中，{seconds} 秒' },
  unsupported: {
    en: 'I can read text and images only; please send your question as text.',
    zh: '我只能阅读文字和图片，请用文字提问。',
  },
  chatRefusedQuestion: {
    en: 'The chat service did not accept this question. Please ask in other words, or send /retry or /new.',
    zh: '对话服务没有接受这个问题。请换个说法，或发送“重试”、“新对话”。',
  },
  chatDown: {
    en: 'I cannot reach the chat service at the moment. Your question is kept: send /retry in a minute.',
    zh: '暂时无法连接对话服务。你的问题已保留，请稍后发送“重试”。',
  },
  chatBusy: {
    en: 'The chat service has too much to do at the moment. Your question is kept: send /retry in a minute.',
    zh: '对话服务繁忙。你的问题已保留，请稍后发送“重试”。',
  },
  chatTooLong: {
    en: 'This was too long for the model. Send /new to start afresh, or ask with less text.',
    zh: '内容过长，模型无法处理。请发送“新对话”重新开始，或缩短内容。',
  },
  queueBusy: {
    en: 'Too many people are asking at the moment, so I did not get to this one. Your question is kept: send /retry in a few minutes.',
    zh: '现在提问的人太多，暂时无法回答。你的问题已保留，请过几分钟发送“重试”。',
  },
  fallbackAnswers: {
    en: 'The usual model is not available at the moment; {model} answers.',
    zh: '常用模型暂时不可用，由 {model} 回答。',
  },
  internal: {
    en: 'Something went wrong on my side. Your question is kept: send /retry. Reference: {reference}',
    zh: '我这边出了点问题。你的问题已保留，请发送“重试”。参考号：{reference}',
  },
  interrupted: { en: '(interrupted; send /retry for a whole answer)', zh: '（回答中断，发送“重试”可重新回答）' },
  lengthReached: { en: '(the longest allowed answer ends here)', zh: '（已达到回答长度上限）' },
  emptyAnswer: {
    en: 'The model gave no answer. Please send /retry, or ask in other words.',
    zh: '模型没有给出回答，请发送“重试”或换个说法。',
  },
  expired: {
    en: 'I could not answer this in time, and did not want to surprise you with an old answer. Send /retry if you still need it.',
    zh: '未能及时回答这条消息，为避免突然打扰，没有继续。如仍需要，请发送“重试”。',
  },
  deadLetter: {
    en: 'I am sorry: this message made me fail several times, so I have set it aside. Please ask in other words.',
    zh: '抱歉，处理这条消息时多次出错，已将其搁置。请换个说法再问。',
  },
  unreadable: {
    en: 'I am sorry: this message was damaged before I could read it. Please send it again.',
    zh: '抱歉，这条消息在读取之前已损坏，请重新发送。',
  },
  linkedNotice: {
    en: 'Signed in as {name} ({id}). Not you? Send /unlink.',
    zh: '已登录为 {name}（{id}）。不是你本人？请发送“解绑”。',
  },
  otherPersonNotice: {
    en: 'Somebody else signed in with your link. Nothing was connected. Never pass on a sign-in link.',
    zh: '有其他人使用了你的登录链接，没有绑定任何账号。请勿转发登录链接。',
  },
  signInAgainNotice: {
    en: 'Your sign-in has ended at the institution. Send /signin to sign in again.',
    zh: '你的登录已失效，请发送“登录”重新登录。',
  },
  signInLostNotice: {
    en: 'Your sign-in was lost by a fault on our side. Send /signin to sign in again.',
    zh: '由于我们的故障，你的登录未能保留，请发送“登录”重新登录。',
  },
  codeSeenNotice: {
    en: 'Your sign-in code was seen in a group, so it no longer works, and nothing was connected. Send /signin for a new link.',
    zh: '你的登录验证码出现在群聊中，已失效，没有绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeWrong: {
    en: 'That is not the code on the sign-in page. Please look again; tries left: {count}.',
    zh: '验证码与登录页面上的不一致，请核对后重新输入，还可尝试 {count} 次。',
  },
  codeWrongLast: {
    en: 'That was not the code either, so this sign-in has ended. Nothing was connected; send /signin for a new link.',
    zh: '验证码多次不一致，本次登录已终止，没有绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeExpired: {
    en: 'This code is too old. Send /signin for a new link.',
    zh: '验证码已过期，请发送“登录”获取新的链接。',
  },
  codeNotAwaited: {
    en: 'I am not waiting for a sign-in code here, so nothing was connected. Only type a code if you asked for the sign-in link in this chat yourself: send /signin for one. I have not passed this message on.',
    zh: '我没有在这里等待登录验证码，没有绑定任何账号。只有你本人在此聊天中获取登录链接后，才需要输入验证码；请发送“登录”获取。这条消息没有被转给任何人。',
  },
  codeInGroup: {
    en: 'That looks like a sign-in code. Codes belong in our private chat only; if it was one, it no longer works. Please send /signin to me there.',
    zh: '这看起来是登录验证码。验证码只能在与我的私聊中输入；如果它是验证码，现已失效。请私聊我发送“登录”。',
  },
  codeFailed: {
    en: 'I could not check the code just now. Please send it again.',
    zh: '暂时无法核对验证码，请重新发送。',
  },
  chatLinkedElsewhere: {
    en: 'This chat is already linked to another account, so nothing was changed. Send /unlink first, then /signin.',
    zh: '此聊天已绑定另一个账号，未做任何更改。请先发送“解绑”，再发送“登录”。',
  },
  accountLinkedElsewhere: {
    en: 'This account is already linked to another chat user, so nothing was changed. Send /unlink to me from there first, then /signin here.',
    zh: '此账号已绑定另一个聊天用户，未做任何更改。请先用那个聊天账号给我发送“解绑”，再在这里发送“登录”。',
  },
  conversationEnded: {
    en: 'Our last conversation is long ago, so this is a new one.',
    zh: '距离上次对话已久，这是一次新的对话。',
  },
  startedAfresh: {
    en: 'Our conversation had become too long for the model, so I have started a new one.',
    zh: '之前的对话过长，模型无法处理，已开始新的对话。',
  },
  conflictNotice: {
    en: 'Somebody tried to connect your account with another chat user. Nothing was changed.',
    zh: '有人尝试将你的账号关联到其他聊天用户，未做任何更改。',
  },
};
