import type { Catalogue } from '../../shared/text/texts.ts';

/** What stands for masked numbers and addresses. */
export const MASK_TEXTS = {
  'id-number': { en: '[ID number]', zh: '［身份证号］' },
  phone: { en: '[phone number]', zh: '［手机号］' },
  card: { en: '[card number]', zh: '［银行卡号］' },
  email: { en: '[e-mail address]', zh: '［邮箱］' },
} as const satisfies Catalogue<string>;
