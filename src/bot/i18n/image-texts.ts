import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about images. The keys of an `ImageFault` state the problem and what the user can do. */
export const IMAGE_TEXTS = {
  oneImage: { en: 'The image', zh: '这张图片' },
  imageOfMany: { en: 'Image {number} of {count}', zh: '第 {number} 张图片（共 {count} 张）' },
  too_large: {
    en: '{image} is larger than 10 MB. Please send a smaller one, for example without “original size”.',
    zh: '{image}超过 10 MB。请发送较小的图片，例如不勾选“原图”。',
  },
  unknown_type: {
    en: '{image} has a format that I cannot read. Please send it as PNG, JPEG, GIF or WebP, or as a screenshot.',
    zh: '{image}的格式不受支持。请发送 PNG、JPEG、GIF 或 WebP 格式的图片，或发送截图。',
  },
  too_many_pixels: {
    en: '{image} has more than 25 million pixels. Please scale it down, or send only the relevant part.',
    zh: '{image}超过 2500 万像素。请缩小后重新发送，或只发送需要的部分。',
  },
  too_heavy: {
    en: '{image} takes too much memory to open. Please send it as an ordinary JPEG, or send a screenshot.',
    zh: '{image}占用内存过多，无法打开。请存为普通的 JPEG 后重新发送，或发送截图。',
  },
  broken: {
    en: '{image} is damaged and could not be opened. Please send it again, or send a screenshot.',
    zh: '{image}已损坏，无法打开。请重新发送，或发送截图。',
  },
  not_read: {
    en: '{image} could not be opened because of a problem on our side; the image itself may be fine. Please send it again in a moment.',
    zh: '系统故障，未能打开{image}，图片本身可能没有问题。请稍后重新发送。',
  },
  unreachable: {
    en: '{image} could not be downloaded from this app just now. Please send it again in a moment, together with your question.',
    zh: '暂时无法从本应用下载{image}。请稍后连同问题一起重新发送。',
  },
  gone: {
    en: '{image} can no longer be downloaded. Please send it again together with your question.',
    zh: '{image}已无法下载。请连同问题一起重新发送。',
  },
  tooManyImages: {
    en: 'You sent {count} images; I can view up to {most} at a time. Please send fewer.',
    zh: '你发送了 {count} 张图片，一次最多可查看 {most} 张。请减少后重新发送。',
  },
  noModelSees: {
    en: 'No model here can read images. Please describe the image in words and ask again.',
    zh: '当前没有支持图片的模型。请用文字描述图片内容后重新提问。',
  },
  mayNotShowImages: {
    en: 'Only the model {model} can read images here, and your account does not have access to it. Please describe the image in words, or ask the help desk for access.',
    zh: '只有模型 {model} 支持图片，而你的账号没有使用权限。请用文字描述图片内容，或联系服务台申请权限。',
  },
  seenBy: {
    en: 'Answered by {model}, which can read images.',
    zh: '由支持图片的模型 {model} 回答。',
  },
} as const satisfies Catalogue<string>;
