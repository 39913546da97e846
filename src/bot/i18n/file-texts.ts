import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about files. The keys of a `DocumentFault` state the problem and what the user can do. */
export const FILE_TEXTS = {
  nameless: { en: 'the file', zh: '该文件' },
  pages: { en: ' ({count} pages)', zh: '（{count} 页）' },
  slides: { en: ' ({count} slides)', zh: '（{count} 张幻灯片）' },
  sheets: { en: ' ({count} sheets)', zh: '（{count} 个工作表）' },
  reading: { en: 'Reading the file…', zh: '正在读取文件……' },
  ready: {
    en: 'I have read “{file}”{extent}. You can now ask for a summary, look something up, or have a part explained.',
    zh: '已读取“{file}”{extent}。你可以让我总结内容、查找信息或解释某一部分。',
  },
  readyMany: {
    en: 'I have read {count} files:\n\n{list}\n\nYou can now ask for a summary or a comparison, or look something up.',
    zh: '已读取 {count} 个文件：\n\n{list}\n\n你可以让我总结、对比或查找其中的内容。',
  },
  readyScan: {
    en: 'I have opened “{file}”{extent}. It contains only images; I will look at them when you ask about it.',
    zh: '已打开“{file}”{extent}。其中只有图片，提问时我会查看。',
  },
  listed: { en: '- “{file}”{extent}', zh: '- “{file}”{extent}' },
  hasMacros: {
    en: 'The macros in “{file}” were neither run nor read.',
    zh: '“{file}”中的宏未运行，也未读取。',
  },
  cut: {
    en: '“{file}” is long, so I used only the part up to {place}. To ask about the rest, send only that part.',
    zh: '“{file}”过长，我只使用了{place}为止的内容。如需了解后面的内容，请只发送那一部分。',
  },
  cutOfPages: {
    en: '“{file}” is long, so I used only the part up to {place} of {count}. To ask about the rest, send only those pages.',
    zh: '“{file}”过长：共 {count} 页，我只使用了{place}。如需了解后面的内容，请只发送那几页。',
  },
  chosen: {
    en: '“{file}” is long, so I used only the parts relevant to your question: {places}. For other content, name it in your question or send only that part.',
    zh: '“{file}”过长，我只使用了与问题相关的部分：{places}。如需其他内容，请在问题中写明关键词，或只发送那一部分。',
  },
  chosenOfPages: {
    en: '“{file}” is long, so I used only the parts relevant to your question: {places} of {count} pages. For other content, name it in your question or send only those pages.',
    zh: '“{file}”过长：共 {count} 页，我只使用了与问题相关的部分：{places}。如需其他内容，请在问题中写明关键词，或只发送那几页。',
  },
  fromTo: { en: '{from} to {to}', zh: '{from}至{to}' },
  manyPlaces: { en: '{places} and others', zh: '{places}等' },
  madeRoom: {
    en: 'Your files and images exceed your storage limit, so I have removed the oldest ones. Send them again when you need them.',
    zh: '你的文件和图片已超出保留上限，较早的内容已移除。需要时请重新发送。',
  },
  noRoom: {
    en: '“{file}” was used for this answer only and has not been saved. To ask about it again, send it again.',
    zh: '“{file}”仅用于本次回答，未保存。再次提问时请重新发送。',
  },
  noRoomUntilAsked: {
    en: 'I cannot keep “{file}” for your question, because the storage for users who are not signed in is full. Send /signin to sign in, then send the file again.',
    zh: '未登录用户的存储空间已满，无法保留“{file}”。请先发送“登录”完成登录，再重新发送文件。',
  },
  unseenPages: {
    en: 'Some pages of “{file}” are images without text. No model here can read images, so I used only the text.',
    zh: '“{file}”的部分页面是没有文字的图片，而当前没有支持图片的模型，因此我只使用了其中的文字。',
  },
  noModelSees: {
    en: '“{file}” contains only images, and no model here can read images. Please send a version with text.',
    zh: '“{file}”中只有图片，而当前没有支持图片的模型。请发送含文字的版本。',
  },
  tooMany: {
    en: 'You sent {count} files; I can read up to {most} at a time. Please send fewer.',
    zh: '你发送了 {count} 个文件，一次最多可读取 {most} 个。请减少后重新发送。',
  },
  unsupported: {
    en: 'I cannot read “{file}”. Supported formats: PDF, Word (.docx), Excel (.xlsx), PowerPoint (.pptx), CSV, Markdown, HTML and plain text. Please convert it, for example to PDF, and send it again.',
    zh: '无法读取“{file}”。支持的格式：PDF、Word（.docx）、Excel（.xlsx）、PowerPoint（.pptx）、CSV、Markdown、HTML 和纯文本。请转换格式（例如 PDF）后重新发送。',
  },
  old_office: {
    en: '“{file}” uses an old Office format (before 2007) that I cannot read. Please save it as .docx, .xlsx, .pptx or PDF and send it again.',
    zh: '“{file}”是 2007 年以前的旧版 Office 格式，无法读取。请另存为 .docx、.xlsx、.pptx 或 PDF 后重新发送。',
  },
  archive: {
    en: '“{file}” is an archive. I cannot open archives; please send the files individually.',
    zh: '“{file}”是压缩包，无法读取。请逐个发送其中的文件。',
  },
  encrypted: {
    en: '“{file}” is password-protected. Please remove the password and send it again.',
    zh: '“{file}”设有密码保护。请移除密码后重新发送。',
  },
  broken: {
    en: '“{file}” is damaged and could not be opened. Please save it again, for example as PDF, and resend it.',
    zh: '“{file}”已损坏，无法打开。请重新保存（例如存为 PDF）后再发送。',
  },
  too_large: {
    en: '“{file}” is larger than {size} MB. Please send a smaller file, or only the relevant part.',
    zh: '“{file}”超过 {size} MB。请发送较小的文件，或只发送需要的部分。',
  },
  too_heavy: {
    en: '“{file}” takes too much time or memory to read. Please send only the relevant part, or save it as PDF and send it again.',
    zh: '读取“{file}”耗时或占用内存过多。请只发送需要的部分，或另存为 PDF 后重新发送。',
  },
  must_wait: {
    en: 'Several of your files took too much time or memory to read, so I have paused reading your files. Please send them again in {minutes} {minutes:minute|minutes}.',
    zh: '读取你的多个文件耗时或占用内存过多，已暂停读取。请在 {minutes} 分钟后重新发送。',
  },
  not_read: {
    en: 'I could not read “{file}” because of a problem on our side; the file itself may be fine. Please send it again in a moment.',
    zh: '系统故障，未能读取“{file}”，文件本身可能没有问题。请稍后重新发送。',
  },
  no_text: {
    en: '“{file}” contains nothing that I can read. Please check it and send it again.',
    zh: '“{file}”中没有可读取的内容。请检查后重新发送。',
  },
  unreachable: {
    en: 'I could not download “{file}” from this app just now. Please send it again in a moment, together with your question.',
    zh: '暂时无法从本应用下载“{file}”。请稍后连同问题一起重新发送。',
  },
  gone: {
    en: '“{file}” can no longer be downloaded. Please send it again together with your question.',
    zh: '“{file}”已无法下载。请连同问题一起重新发送。',
  },
} as const satisfies Catalogue<string>;
