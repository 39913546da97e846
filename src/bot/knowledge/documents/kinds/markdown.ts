import type { ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { decodeText } from '../text/decode-text.ts';
import { Sections } from '../text/sections.ts';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+([^ \t][^]*)$/;
const TRAILING_BLANKS = /(?<![ \t])[ \t]+$/;
const CLOSING_SIGNS = /(?<=[ \t])#+$/;

/** Reads Markdown unchanged, in sections by its headings. Front matter is treated as text. */
export async function readMarkdown(bytes: Buffer): Promise<ReadDocument> {
  const gathering = new TextCollector();
  const sections = new Sections(gathering);
  let fence: string | undefined;
  let block: string[] = [];
  const flush = () => {
    sections.block(block.join('\n').replace(/^\n+|(?<!\n)\n+$/g, ''));
    block = [];
  };
  for (const line of linesOf(decodeText(bytes))) {
    if (gathering.isFull()) break;
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) === true) fence = undefined;
    const heading = fence === undefined ? HEADING.exec(line) : null;
    if (heading) {
      flush();
      sections.heading(heading[1]?.length ?? 1, titleOf(heading[2] ?? ''));
    } else block.push(line);
  }
  flush();
  sections.end();
  if (gathering.isFull()) gathering.cut();
  return gathering.result({ title: sections.openingHeading });
}

/** A heading's text without closing `#` characters. */
function titleOf(written: string): string {
  return written.replace(TRAILING_BLANKS, '').replace(CLOSING_SIGNS, '').replace(TRAILING_BLANKS, '');
}

/** A generator, so that a text with millions of lines is not held in memory twice. */
function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}
