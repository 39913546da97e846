import type { Catalogue } from '../../shared/text/texts.ts';

type ImageText =
  | 'oneImage'
  | 'imageOfMany'
  | 'too_large'
  | 'unknown_type'
  | 'too_many_pixels'
  | 'too_heavy'
  | 'broken'
  | 'not_read'
  | 'gone'
  | 'tooManyImages'
  | 'noModelSees'
  | 'mayNotShowImages'
  | 'seenBy';

/** What the bot says about images. Those named like a fault (`ImageFault`) say what is wrong with one and what helps. */
export const IMAGE_TEXTS: Catalogue<ImageText> = {
  oneImage: { en: 'The image', zh: '这张图片' },
  imageOfMany: { en: 'Image {number} of {count}', zh: '{count} 张图片中的第 {number} 张' },
  too_large: {
    en: '{image} has more than 10 MB. Please send a smaller one, for example without “original size”.',
    zh: '{image}超过 10 MB。请换一张小一些的再发，例如不要勾选“原图”。',
  },
  unknown_type: {
    en: '{image} is of a kind that I cannot read. Please send it as PNG, JPEG, GIF or WebP; a screenshot works too.',
    zh: '{image}的格式我无法读取。请用 PNG、JPEG、GIF 或 WebP 格式发送，也可以发截图。',
  },
  too_many_pixels: {
    en: '{image} has more than 25 million pixels. Please scale it down, or send the part that matters.',
    zh: '{image}超过 2500 万像素。请缩小后再发，或只发需要的部分。',
  },
  too_heavy: {
    en: '{image} is stored in a way that takes too much memory to open. Please send it as an ordinary JPEG, or a screenshot of it.',
    zh: '{image}的存储方式太占内存，我无法打开。请存为普通的 JPEG 再发，或发它的截图。',
  },
  broken: {
    en: '{image} is damaged: I could not open it. Please send it again, or a screenshot of it.',
    zh: '{image}已损坏，无法打开。请重新发送，或发它的截图。',
  },
  not_read: {
    en: '{image} could not be opened because of a fault on my side; the image itself may be fine. Please send it again in a moment.',
    zh: '打开{image}时系统出现故障，图片本身可能没有问题。请稍后重新发送。',
  },
  gone: {
    en: '{image} could not be downloaded any more. Please send it again, together with your question.',
    zh: '{image}已无法下载。请连同问题一起重新发送。',
  },
  tooManyImages: {
    en: 'Those are {count} images; I can look at {most} at once. Please send fewer.',
    zh: '一共有 {count} 张图片，我一次最多看 {most} 张。请减少后重新发送。',
  },
  noModelSees: {
    en: 'No model here can look at images. Please describe in words what matters in it, and ask again.',
    zh: '此处的模型无法查看图片。请用文字描述图片中的要点，再问一次。',
  },
  mayNotShowImages: {
    en: 'Only the model {model} can look at images here, and your account may not use it. Please describe in words what matters in the image, or ask the help desk for that model.',
    zh: '这里只有模型 {model} 能看图片，而你的账号不能使用它。请用文字描述图片中的要点，或向服务台申请使用该模型。',
  },
  seenBy: {
    en: 'Answered by {model}, the model that can look at images.',
    zh: '由能看图片的模型 {model} 回答。',
  },
};
