/** A part of a page under one heading, split into blocks that can be quoted separately. */
export interface DocSection {
  id: number;
  /** Path of the page below the documentation directory, such as `README.md` or `docs/guide/WECOM.md`. */
  page: string;
  /** The heading, or the name of the page before the first heading. */
  title: string;
  /** Paragraphs, list items, table rows and code blocks, in page order, as Markdown. */
  blocks: string[];
}

const HEADING = /^#{1,6}\s+(\S.*)$/;
const FENCE = /^\s*(?:```|~~~)/;
const TABLE_RULE = /^(?=.[^|]*\|)[\s:|-]+$/;
/** A relative link to another page or heading, which does not work in a chat. */
const PAGE_LINK = /\[([^\]\n]{1,200})\]\((?!https?:)[^)\n]{0,200}\)/g;
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

/** Splits a Markdown page into its sections; sections without text are omitted. */
export function splitSections(page: string, markdown: string): Omit<DocSection, 'id'>[] {
  const sections: Omit<DocSection, 'id'>[] = [{ page, title: page, blocks: [] }];
  let isInFence = false;
  let open = false;
  /** The other rows of such a table are picture captions, which mean nothing without the pictures. */
  let isPictureTable = false;
  for (const line of markdown.split(/\r?\n/)) {
    const section = sections.at(-1) as Omit<DocSection, 'id'>;
    const heading = isInFence ? undefined : HEADING.exec(line)?.[1];
    if (heading !== undefined) {
      sections.push({ page, title: plainTitle(heading), blocks: [] });
      open = false;
      continue;
    }
    // The header row names the columns, which means nothing beside a single row.
    if (!isInFence && TABLE_RULE.test(line) && section.blocks.at(-1)?.startsWith('|')) {
      isPictureTable = section.blocks.pop()?.includes('![') === true;
    }
    if (!line.startsWith('|')) isPictureTable = false;
    else if (isPictureTable) continue;
    const startsBlock = !isInFence && (!open || FENCE.test(line) || LIST_ITEM.test(line) || line.startsWith('|'));
    if (FENCE.test(line)) isInFence = !isInFence;
    if (
      !isInFence &&
      !FENCE.test(line) &&
      (line.trim() === '' || TABLE_RULE.test(line) || /^\s*(?:!\[|<)/.test(line))
    ) {
      open = false;
      continue;
    }
    if (startsBlock) section.blocks.push(line);
    else section.blocks.push(`${section.blocks.pop() ?? ''}\n${line}`);
    open = isInFence || !FENCE.test(line);
  }
  // Pictures are omitted: their URLs mean nothing in an answer.
  const readable = (blocks: string[]) =>
    blocks.filter((block) => !block.includes('![')).map((block) => oneLine(readableRow(block)));
  return sections
    .map((section) => ({ ...section, blocks: readable(section.blocks) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** Formats a table row as a list item, because a single quoted row is not a table. */
function readableRow(block: string): string {
  if (!block.startsWith('|')) return block;
  const cells = block
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  return `- ${cells.join(' — ')}`;
}

/** Joins wrapped lines, which a chat would show as line breaks, and removes relative links. */
function oneLine(block: string): string {
  return FENCE.test(block)
    ? block
    : block.replace(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ' : blanks)).replace(PAGE_LINK, '$1');
}

function plainTitle(heading: string): string {
  return heading
    .trimEnd()
    .replace(/(?<!#)#+$/, '')
    .trimEnd()
    .replace(/[`*_]/g, '')
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, '$1');
}
