import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts about the sources of an answer. */
export const SOURCE_TEXTS = {
  sources: { en: '**Sources**', zh: '**来源**' },
  usedSources: { en: 'My last answer is based on:\n\n{list}', zh: '上一条回答的依据：\n\n{list}' },
  lookedInto: {
    en: 'My last answer does not cite any of the documents that I found:\n\n{list}',
    zh: '上一条回答未引用检索到的以下文档：\n\n{list}',
  },
  noSources: {
    en: 'My last answer is not based on any of the institution’s documents.',
    zh: '上一条回答未使用本单位的文档。',
  },
} as const satisfies Catalogue<string>;
