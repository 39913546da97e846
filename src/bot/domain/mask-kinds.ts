/** What can be masked: Chinese ID numbers, mainland phone numbers, payment card numbers and e-mail addresses. */
export const MASK_KINDS = ['id-number', 'phone', 'card', 'email'] as const;

export type MaskKind = (typeof MASK_KINDS)[number];
