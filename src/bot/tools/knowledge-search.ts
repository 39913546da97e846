import { z } from 'zod';
import { localize, type Bilingual } from '../../shared/text/texts.ts';
import type { Found, Knowledge } from '../knowledge/knowledge.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

/** Tool name for the model. Where the tool is offered, numbers in brackets are citations. */
export const KNOWLEDGE_SEARCH = 'knowledge_search';

export const knowledgeSearch: ToolModule = {
  name: KNOWLEDGE_SEARCH,
  isOnUnlessNamed: true,
  create: ({ knowledge }) => (knowledge?.hasSources ? createKnowledgeSearch(knowledge) : undefined),
};

const STATUS: Bilingual = { en: 'Looking into the documents …', zh: '正在查阅文档……' };

const MAX_RESULTS = 6;
const MAX_TEXT_CHARS = 1_800;
const MAX_TITLE_CHARS = 200;
const NOTHING =
  "Nothing was found in the institution's documents that this person may read here. Say so in one sentence; do not invent an answer or a source.";
/** A group may read only what all its members may read. */
const MORE_IN_PRIVATE =
  ' In a private chat with you this person may be able to read more documents: suggest to ask there.';
const MORE_IN_PRIVATE_UNLESS_ANSWERED = `If these results do not answer the question:${MORE_IN_PRIVATE}`;
const RULES =
  'Cite what you use by its number in brackets, such as [1], right behind the statement. Cite no other numbers. What these results do not say, you do not know from them.';

const schema = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(400)
    .describe('What to look for, in a few words, in the language of the question.'),
});

/**
 * Finds passages in the institution's documents. The person and the place determine the readable documents
 * (SECURITY.md knowledge-rights); the model supplies only the search query.
 */
export function createKnowledgeSearch(knowledge: Knowledge): Tool {
  return defineTool({
    name: KNOWLEDGE_SEARCH,
    description:
      "Searches the institution's own documents (rules, services, contacts, opening hours, forms, how things are done here). Use it for every question that may concern the institution, before you answer.",
    schema,
    findsAddresses: true,
    status: (_, { language }) => localize(STATUS, language),
    async run({ query }, { person, place, knowledge: only, cite }, signal) {
      const found = await knowledge.search(query, { person, place }, signal, only);
      if (found.length === 0) return place.kind === 'group' ? NOTHING + MORE_IN_PRIVATE : NOTHING;
      const results = found.slice(0, MAX_RESULTS).map((one) => writeResult(one, cite(one)));
      const hint = place.kind === 'group' ? [MORE_IN_PRIVATE_UNLESS_ANSWERED] : [];
      return [RULES, ...hint, ...results].join('\n\n');
    },
  });
}

/**
 * Formats a numbered result. Bracketed numbers in its text are rewritten so that they are not citations, and its lines are
 * quoted so that none resembles the header of another result.
 */
function writeResult({ title, source, url, date, text }: Found, number: number): string {
  const facts = [date, url].filter((fact) => fact !== undefined);
  const head = `[${number}] ${plain(title, MAX_TITLE_CHARS)} (${[plain(source, MAX_TITLE_CHARS), ...facts].join('; ')})`;
  const lines = [...text].slice(0, MAX_TEXT_CHARS).join('').trim().split('\n');
  return [head, ...lines.map((line) => `> ${withoutNumbers(line)}`)].join('\n');
}

function plain(text: string, maxChars: number): string {
  return [...withoutNumbers(text).replace(/\s+/gu, ' ').trim()].slice(0, maxChars).join('');
}

function withoutNumbers(text: string): string {
  return text.replace(/[[【]([\d^†,，、;； \t]{1,40})[\]】]/g, '($1)');
}
