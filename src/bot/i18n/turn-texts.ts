import type { Catalogue } from '../../shared/text/texts.ts';

type TurnText =
  | 'newConversation'
  | 'stopped'
  | 'nothingToStop'
  | 'nothingToRetry'
  | 'notTheLast'
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
  | 'chatLoading'
  | 'waitsForCapacity'
  | 'waitsForService'
  | 'waitsForModel'
  | 'chatOff'
  | 'chatFiltered'
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
  | 'otherScene'
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
  nothingToStop: { en: 'There is nothing to stop.', zh: '当前没有正在生成的回答。' },
  notTheLast: {
    en: 'Only your newest question can be answered again here. Please ask the other one anew.',
    zh: '这里只能重试你最近的一个问题，其他问题请重新提问。',
  },
  nothingToRetry: { en: 'There is no question yet that I could answer again.', zh: '还没有可以重试的问题。' },
  whoLinked: { en: 'You are signed in as {name} ({id}).', zh: '你已登录：{name}（{id}）。' },
  whoUnlinked: { en: 'Nobody is signed in here. Send /signin to sign in.', zh: '当前没有登录，发送“登录”即可登录。' },
  whoPlatform: {
    en: 'Nobody needs to sign in here. Your chat id here is {id}.',
    zh: '此处无需登录，你在这里的成员账号是 {id}。',
  },
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
    en: 'I could no longer confirm that your account is active, so I cannot answer. Please contact the help desk, or send /unlink and sign in again.',
    zh: '暂时无法确认你的账号是否有效，因此不能回答。请联系服务台，或发送“解绑”后重新登录。',
  },
  notHere: {
    en: 'I cannot answer this here. Please write to me privately.',
    zh: '我在这里不能回答，请与我私聊。',
  },
  groupsOnly: {
    en: 'I can answer you in certain groups only, not in our private chat. Please mention me there.',
    zh: '我只能在指定的群里回答你，不能在私聊中回答。请在群里 @ 我提问。',
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
    en: 'I can read text, images and documents only; please send your question as text.',
    zh: '我只能阅读文字、图片和文档，请用文字提问。',
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
  chatLoading: {
    en: 'The model is still loading. Your question is kept: send /retry in a few minutes.',
    zh: '模型正在加载。你的问题已保留，请过几分钟发送“重试”。',
  },
  waitsForCapacity: {
    en: 'Many questions at the moment. Yours will start soon.',
    zh: '当前提问较多，你的问题即将开始处理。',
  },
  waitsForService: {
    en: 'I cannot reach the chat service at the moment. Trying again …',
    zh: '暂时无法连接对话服务，正在重试……',
  },
  waitsForModel: {
    en: 'The model is loading. This can take a few minutes.',
    zh: '模型正在加载，可能需要几分钟。',
  },
  chatOff: {
    en: 'The chat service is not set up correctly at the moment, and an administrator has to see to it. Your question is kept: send /retry later.',
    zh: '对话服务暂不可用，需要管理员处理。你的问题已保留，请稍后发送“重试”。',
  },
  chatFiltered: {
    en: 'The content rules of the chat service do not allow this question. Please ask in other words.',
    zh: '这个问题未通过对话服务的内容审核，请换个说法。',
  },
  chatTooLong: {
    en: 'This was too long for the model of the chat service. Send /new to start afresh, or ask with less text.',
    zh: '内容过长，对话服务的模型无法处理。请发送“新对话”重新开始，或缩短内容。',
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
    en: 'Sorry, I could not answer in time. Send /retry if you still need it.',
    zh: '抱歉，未能及时回答。如仍需要，请发送“重试”。',
  },
  deadLetter: {
    en: 'Sorry, I could not process this message. Please try asking in other words.',
    zh: '抱歉，这条消息无法处理，请换个说法。',
  },
  unreadable: {
    en: 'Sorry, this message was damaged before I could read it. Please send it again.',
    zh: '抱歉，这条消息在读取之前已损坏，请重新发送。',
  },
  linkedNotice: {
    en: 'Signed in as {name} ({id}). Not you? Send /unlink.',
    zh: '已登录为{name}（{id}）。不是你本人？请发送“解绑”。',
  },
  otherPersonNotice: {
    en: 'Somebody else used your sign-in link, so it signed nobody in. Please never pass on a sign-in link.',
    zh: '有其他人使用了你的登录链接，因此没有绑定任何账号。请勿转发登录链接。',
  },
  signInAgainNotice: {
    en: 'Your institution has ended your sign-in. Send /signin to sign in again.',
    zh: '你的登录已失效，请发送“登录”重新登录。',
  },
  signInLostNotice: {
    en: 'A fault on our side has lost your sign-in. Send /signin to sign in again.',
    zh: '由于我们的故障，你的登录未能保留，请发送“登录”重新登录。',
  },
  codeSeenNotice: {
    en: 'Your sign-in code was seen in a group, so it no longer works and nobody was signed in. Send /signin for a new link.',
    zh: '你的登录验证码出现在群聊中，已失效，没有绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeWrong: {
    en: 'That is not the code on the sign-in page. Please look again; you have {count} {count:try|tries} left.',
    zh: '验证码与登录页面上的不一致，请核对后重新输入，还可尝试 {count} 次。',
  },
  codeWrongLast: {
    en: 'That was not the code either, so this sign-in has ended and nobody was signed in. Send /signin for a new link.',
    zh: '验证码多次不一致，本次登录已终止，没有绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeExpired: {
    en: 'This code is too old. Send /signin for a new link.',
    zh: '验证码已过期，请发送“登录”获取新的链接。',
  },
  codeNotAwaited: {
    en: 'I was not expecting a code here, so nobody was signed in, and I passed it on to nobody. Please type only a code of your own sign-in. To sign in, send /signin.',
    zh: '这里没有在等待验证码，因此没有绑定任何账号，这条消息也没有转给任何人。请只输入你本人登录时看到的验证码。如需登录，请发送“登录”。',
  },
  codeInGroup: {
    en: 'That looks like a sign-in code. Please type codes in our private chat only; if it was one, it no longer works. Send /signin to me there.',
    zh: '这看起来是登录验证码。验证码只能在与我的私聊中输入；如果它是验证码，现已失效。请私聊我发送“登录”。',
  },
  codeFailed: {
    en: 'I could not check the code just now. Please send it again.',
    zh: '暂时无法核对验证码，请重新发送。',
  },
  chatLinkedElsewhere: {
    en: 'You are already signed in here with another account, so nothing was changed. Send /unlink first, then /signin.',
    zh: '你在此聊天中已登录另一个账号，未做任何更改。请先发送“解绑”，再发送“登录”。',
  },
  accountLinkedElsewhere: {
    en: 'Somebody is already signed in with this account from another chat account, so nothing was changed. Send /unlink to me from there first, then /signin here.',
    zh: '此账号已在另一个聊天账号上登录，未做任何更改。请先用那个聊天账号给我发送“解绑”，再在这里发送“登录”。',
  },
  conversationEnded: {
    en: 'Our last conversation was a while ago, so this is a new one.',
    zh: '距离上次对话已久，这是一次新的对话。',
  },
  otherScene: {
    en: 'Other settings hold for you here now, so this is a new conversation.',
    zh: '这里适用的设置已变更，这是一次新的对话。',
  },
  startedAfresh: {
    en: 'Our conversation had become too long for the model, so this is a new one.',
    zh: '之前的对话过长，模型无法处理，已开始新的对话。',
  },
  conflictNotice: {
    en: 'Somebody tried to sign in with your account from another chat account. Nothing was changed.',
    zh: '有人尝试在另一个聊天账号上登录你的账号，未做任何更改。',
  },
};
