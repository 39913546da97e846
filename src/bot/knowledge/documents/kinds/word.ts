import type { ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { Numbering } from '../office/numbering.ts';
import { addPicture, findRelation, hasMacros, readRelations, readTitle } from '../office/package.ts';
import { attributeOf, readXml } from '../office/read-xml.ts';
import { createWordBody } from '../office/word-body.ts';
import { readWordStyles } from '../office/word-styles.ts';
import type { Zip } from '../office/zip.ts';
import { Sections } from '../text/sections.ts';

/** Total length of all footnotes and endnotes. */
const MAX_NOTE_CHARS = 200_000;

/**
 * Reads a Word document (.docx): headings, numbered lists, tables, footnotes and images, as Word shows them. Leaves out
 * deleted text, hidden text and field instructions. Macros are not read and external references are not fetched.
 */
export async function readWord(zip: Zip, main: string): Promise<ReadDocument> {
  const relations = await readRelations(zip, main);
  const gathering = new TextCollector();
  const sections = new Sections(gathering);
  const pictures: string[] = [];
  const notes = new Map([
    ...(await readNotes(zip, findRelation(relations, 'footnotes'))),
    ...(await readNotes(zip, findRelation(relations, 'endnotes'))),
  ]);
  const body = createWordBody({
    sections,
    styles: await readWordStyles(zip, findRelation(relations, 'styles')),
    numbering: await Numbering.read(zip, findRelation(relations, 'numbering')),
    noteOf: (id) => notes.get(id),
    onPicture: (id) => {
      const relation = relations.get(id);
      if (relation?.type !== 'image') return '';
      pictures.push(relation.target);
      return `[picture ${pictures.length}]`;
    },
    isFull: () => gathering.isFull(),
  });
  await readXml(zip.pieces(main), body);
  body.endNotes();
  sections.end();
  if (gathering.isFull()) gathering.cut();
  for (const [index, target] of pictures.entries()) await addPicture(zip, target, `picture ${index + 1}`, gathering);
  const title = (await readTitle(zip)) ?? sections.openingHeading;
  return gathering.result({ title, hasMacros: hasMacros(zip) });
}

async function readNotes(zip: Zip, part: string | undefined): Promise<Map<string, string>> {
  const notes = new Map<string, string>();
  if (part === undefined) return notes;
  let id = '';
  let isText = false;
  let leftChars = MAX_NOTE_CHARS;
  await readXml(zip.pieces(part), {
    open(name, attributes) {
      if (name === 'footnote' || name === 'endnote') id = attributeOf(attributes, 'id') ?? '';
      isText = name === 't';
    },
    close: () => (isText = false),
    text(text) {
      if (!isText || leftChars <= 0) return;
      leftChars -= text.length;
      notes.set(id, ((notes.get(id) ?? '') + text).trimStart());
    },
  });
  return notes;
}
