import type { Catalogue } from '../../shared/text/texts.ts';

type SourceText = 'sources' | 'usedSources' | 'lookedInto' | 'noSources';

/** What the bot says of the documents that an answer stands on. */
export const SOURCE_TEXTS: Catalogue<SourceText> = {
  sources: { en: '**Sources**', zh: '**来源**' },
  usedSources: { en: 'My last answer stands on:\n\n{list}', zh: '上一条回答依据的是：\n\n{list}' },
  lookedInto: {
    en: 'My last answer cites none of the documents that I found for it:\n\n{list}',
    zh: '上一条回答没有引用我为它找到的这些文档：\n\n{list}',
  },
  noSources: {
    en: 'My last answer stands on no document of the institution.',
    zh: '上一条回答没有依据本单位的文档。',
  },
};
