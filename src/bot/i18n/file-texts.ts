import type { Catalogue } from '../../shared/text/texts.ts';

type FileText =
  | 'nameless'
  | 'pages'
  | 'sheets'
  | 'reading'
  | 'ready'
  | 'readyMany'
  | 'readyScan'
  | 'listed'
  | 'hasMacros'
  | 'cut'
  | 'cutOfPages'
  | 'chosen'
  | 'chosenOfPages'
  | 'manyPlaces'
  | 'fromTo'
  | 'madeRoom'
  | 'noRoom'
  | 'noRoomUntilAsked'
  | 'unseenPages'
  | 'noModelSees'
  | 'tooMany'
  | 'unsupported'
  | 'old_office'
  | 'archive'
  | 'encrypted'
  | 'broken'
  | 'too_large'
  | 'too_heavy'
  | 'must_wait'
  | 'not_read'
  | 'no_text'
  | 'gone';

/** What the bot says about files. Those named like a fault (`DocumentFault`) say what is wrong with one and what helps. */
export const FILE_TEXTS: Catalogue<FileText> = {
  nameless: { en: 'the file', zh: '该文件' },
  pages: { en: ' ({count} pages)', zh: '（{count} 页）' },
  sheets: { en: ' ({count} sheets)', zh: '（{count} 个工作表）' },
  reading: { en: 'Reading the file…', zh: '正在读取文件……' },
  ready: {
    en: 'I have read “{file}”{extent}. Ask me about it: for a summary, for something that stands in it, or for an explanation of a part.',
    zh: '已读取“{file}”{extent}。现在可以就它提问：例如要一份摘要、查找某项内容，或解释其中一部分。',
  },
  readyMany: {
    en: 'I have read {count} files:\n\n{list}\n\nAsk me about them: for a summary, for a comparison, or for something that stands in them.',
    zh: '已读取 {count} 个文件：\n\n{list}\n\n现在可以就它们提问：例如要一份摘要、作比较，或查找某项内容。',
  },
  readyScan: {
    en: 'I have opened “{file}”{extent}. It holds only pictures, which I look at when you ask about it.',
    zh: '已打开“{file}”{extent}。其中只有图片，你提问时我会查看。',
  },
  listed: { en: '- “{file}”{extent}', zh: '- “{file}”{extent}' },
  hasMacros: {
    en: 'The macros in “{file}” were neither run nor read.',
    zh: '“{file}”中的宏没有运行，也没有读取。',
  },
  cut: {
    en: '“{file}” is long: I used it up to {place}. For what follows, ask again with only that part of it.',
    zh: '“{file}”较长：我只用到了{place}为止的内容。需要后面的部分时，请只发那一部分再问。',
  },
  cutOfPages: {
    en: '“{file}” is long: I used it up to {place} of {count}. For what follows, ask again with only those pages.',
    zh: '“{file}”较长：共 {count} 页，我只用到了{place}。需要后面的部分时，请只发那几页再问。',
  },
  chosen: {
    en: '“{file}” is long: I used what fits your question, {places}. For something else in it, ask by its words, or send only that part.',
    zh: '“{file}”较长：我只用了与问题相关的部分：{places}。需要其他内容时，请用其中的词语提问，或只发那一部分。',
  },
  chosenOfPages: {
    en: '“{file}” is long: I used what fits your question, {places} of {count} pages. For something else in it, ask by its words, or send only those pages.',
    zh: '“{file}”较长：共 {count} 页，我只用了与问题相关的部分：{places}。需要其他内容时，请用其中的词语提问，或只发那几页。',
  },
  fromTo: { en: '{from} to {to}', zh: '{from}至{to}' },
  manyPlaces: { en: '{places} and others', zh: '{places}等' },
  madeRoom: {
    en: 'Your files and pictures take more room than I keep for one person, so your oldest ones are no longer kept. Send one again when you need it.',
    zh: '你的文件和图片超出了为每人保留的总量，最早的已不再保留。需要时请重新发送。',
  },
  noRoom: {
    en: '“{file}” was used for this answer and is not kept for later questions. For another one, send it again.',
    zh: '“{file}”只用于这次回答，不会保留到以后的问题。再问时请重新发送。',
  },
  noRoomUntilAsked: {
    en: 'I cannot keep “{file}” until you ask, since there is no room left for people who are not signed in. Send /signin to sign in, and then the file again.',
    zh: '为未登录者保留内容的空间已满，“{file}”无法保留到你提问时。请先发送“登录”完成登录，再重新发送文件。',
  },
  unseenPages: {
    en: 'Pages of “{file}” are pictures without text, and no model here can look at pictures: I used only its text.',
    zh: '“{file}”中有的页面是没有文字的图片，而此处的模型无法查看图片：我只用了其中的文字。',
  },
  noModelSees: {
    en: '“{file}” holds only pictures, and no model here can look at pictures. Please send a version with text in it.',
    zh: '“{file}”里只有图片，而此处的模型无法查看图片。请发送带有文字的版本。',
  },
  tooMany: {
    en: 'Those are {count} files; I can read {most} at once. Please send fewer.',
    zh: '一共有 {count} 个文件，我一次最多读 {most} 个。请减少后重新发送。',
  },
  unsupported: {
    en: 'I cannot read “{file}”. I read PDF, Word (.docx), Excel (.xlsx), CSV, Markdown, HTML and plain text; please send it as one of these, for example as PDF.',
    zh: '我无法读取“{file}”。我能读 PDF、Word（.docx）、Excel（.xlsx）、CSV、Markdown、HTML 和纯文本；请转换成其中一种（例如 PDF）再发。',
  },
  old_office: {
    en: '“{file}” is in the format of Office before 2007, which I cannot read. Please open it, save it as .docx, .xlsx or PDF, and send that.',
    zh: '“{file}”是 2007 年以前的 Office 格式，我无法读取。请打开后另存为 .docx、.xlsx 或 PDF 再发。',
  },
  archive: {
    en: '“{file}” is an archive, and I do not unpack archives. Please send the files in it one by one.',
    zh: '“{file}”是压缩包，我不会解压。请把里面的文件逐个发给我。',
  },
  encrypted: {
    en: '“{file}” is protected by a password. Please save it without the password, and send that.',
    zh: '“{file}”有密码保护。请另存为没有密码的文件再发。',
  },
  broken: {
    en: '“{file}” is damaged: I could not open it. Please save it anew, for example as PDF, and send it again.',
    zh: '“{file}”已损坏，无法打开。请重新保存（例如存为 PDF）后再发。',
  },
  too_large: {
    en: '“{file}” has more than 20 MB. Please send a smaller one, or the part that matters.',
    zh: '“{file}”超过 20 MB。请发送小一些的文件，或只发需要的部分。',
  },
  too_heavy: {
    en: '“{file}” takes too much time or memory to read. Please send the part that matters, or save it anew as PDF.',
    zh: '读取“{file}”太耗时或太占内存。请只发需要的部分，或另存为 PDF 再发。',
  },
  must_wait: {
    en: 'Several of your files took too much time or memory to read, so I read no further ones for now. Please send them again in {minutes} {minutes:minute|minutes}.',
    zh: '你有多个文件读取时太耗时或太占内存，因此暂时不再读取新文件。请在 {minutes} 分钟后重新发送。',
  },
  not_read: {
    en: 'I could not read “{file}” because of a fault on my side; the file itself may be fine. Please send it again in a moment.',
    zh: '读取“{file}”时系统出现故障，文件本身可能没有问题。请稍后重新发送。',
  },
  no_text: {
    en: 'There is nothing to read in “{file}”. Please check it, and send it again.',
    zh: '“{file}”里没有可读的内容。请检查后重新发送。',
  },
  gone: {
    en: '“{file}” could not be downloaded any more. Please send it again, together with your question.',
    zh: '“{file}”已无法下载。请连同问题一起重新发送。',
  },
};
