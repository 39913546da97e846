/** A part of a page under one heading, cut into pieces that can be quoted by themselves. */
export interface DocSection {
  id: number;
  /** The page's path below the documentation's folder, such as `README.md` or `docs/WECOM.md`. */
  page: string;
  /** The heading, or the page's name before the first. */
  title: string;
  /** Paragraphs, list items, table rows and code blocks, in the page's order, as Markdown. */
  blocks: string[];
}

const HEADING = /^#{1,6}\s+(\S.*)$/;
const FENCE = /^\s*(?:```|~~~)/;
const TABLE_RULE = /^(?=.[^|]*\|)[\s:|-]+$/;
/** A link to another page or heading of ours, which leads nowhere from a chat. */
const PAGE_LINK = /\[([^\]\n]{1,200})\]\((?!https?:)[^)\n]{0,200}\)/g;
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

/** Cuts one Markdown page into its sections; sections without text of their own are left out. */
export function splitSections(page: string, markdown: string): Omit<DocSection, 'id'>[] {
  const sections: Omit<DocSection, 'id'>[] = [{ page, title: page, blocks: [] }];
  let isInFence = false;
  let open = false;
  /** Its other rows are the pictures' captions, which say nothing without them. */
  let isPictureTable = false;
  for (const line of markdown.split(/\r?\n/)) {
    const section = sections.at(-1) as Omit<DocSection, 'id'>;
    const heading = isInFence ? undefined : HEADING.exec(line)?.[1];
    if (heading !== undefined) {
      sections.push({ page, title: plainTitle(heading), blocks: [] });
      open = false;
      continue;
    }
    // What stands above a table's rule names its columns, which means nothing beside a single row.
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
  // Pictures have no place in an answer: their addresses mean nothing there.
  const readable = (blocks: string[]) =>
    blocks.filter((block) => !block.includes('![')).map((block) => oneLine(readableRow(block)));
  return sections
    .map((section) => ({ ...section, blocks: readable(section.blocks) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** A table's row as a list item, since quoted alone it would be no table any more. */
function readableRow(block: string): string {
  if (!block.startsWith('|')) return block;
  const cells = block
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '');
  return `- ${cells.join(' — ')}`;
}

/** A source's line ends are where its author's editor stood; a chat would show them as breaks. Links within the pages go. */
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
