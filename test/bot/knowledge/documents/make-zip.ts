import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  name: string;
  content: Buffer | string;
  /** General purpose flags of the header; 1 means encrypted. */
  flags?: number;
}

/** Writes a ZIP archive like Office. */
export function makeZip(entries: readonly ZipEntry[], alter: { count?: number; sameData?: boolean } = {}): Buffer {
  const locals: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  for (const { name, content, flags = 0 } of entries) {
    const plain = Buffer.from(content as string);
    const packed = deflateRawSync(plain, { level: 6 });
    const nameBytes = Buffer.from(name);
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32LE(crc32(plain), 4);
    sizes.writeUInt32LE(packed.length, 8);
    sizes.writeUInt32LE(plain.length, 12);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(8, 8);
    sizes.copy(local, 14, 4);
    local.writeUInt16LE(nameBytes.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 6);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(8, 10);
    sizes.copy(entry, 16, 4);
    entry.writeUInt16LE(nameBytes.length, 28);
    entry.writeUInt32LE(alter.sameData === true ? 0 : at, 42);
    list.push(entry, nameBytes);
    if (alter.sameData === true && at > 0) continue;
    locals.push(local, nameBytes, packed);
    at += local.length + nameBytes.length + packed.length;
  }
  const entriesBytes = Buffer.concat(list);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(alter.count ?? entries.length, 8);
  end.writeUInt16LE(alter.count ?? entries.length, 10);
  end.writeUInt32LE(entriesBytes.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, entriesBytes, end]);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const TYPES: ZipEntry = { name: '[Content_Types].xml', content: `${XML}<Types xmlns="t"/>` };

export interface RelationOf {
  id: string;
  type: string;
  target: string;
  isExternal?: boolean;
}

export function relationsXml(relations: readonly RelationOf[]): string {
  const written = relations.map(
    ({ id, type, target, isExternal }) =>
      `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${isExternal === true ? ' TargetMode="External"' : ''}/>`,
  );
  return `${XML}<Relationships xmlns="${RELATIONS}">${written.join('')}</Relationships>`;
}

/** @param body paragraphs of WordprocessingML */
export function makeDocx(body: Buffer | string, more: readonly ZipEntry[] = [], head = XML): Buffer {
  const [before, after] = [`${head}<w:document ${WORD}><w:body>`, '</w:body></w:document>'].map((text) =>
    Buffer.from(text),
  );
  return makeZip([
    TYPES,
    { name: '_rels/.rels', content: relationsXml([{ id: 'r1', type: 'officeDocument', target: 'word/document.xml' }]) },
    { name: 'word/document.xml', content: Buffer.concat([before!, Buffer.from(body as string), after!]) },
    ...more,
  ]);
}

export const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

export interface Book {
  /** Rows of the only visible sheet, as SpreadsheetML. */
  rows: Buffer | string;
  sharedStrings?: Buffer | string;
  styles?: string;
  more?: readonly ZipEntry[];
}

export function makeXlsx({ rows, sharedStrings, styles, more = [] }: Book): Buffer {
  const shared: ZipEntry[] =
    sharedStrings === undefined ? [] : [{ name: 'xl/sharedStrings.xml', content: sharedStrings }];
  if (styles !== undefined) shared.push({ name: 'xl/styles.xml', content: XML + styles });
  const sheet = Buffer.concat([
    Buffer.from(`${XML}<worksheet><dimension ref="A1:XFD1048576"/><sheetData>`),
    Buffer.from(rows as string),
    Buffer.from('</sheetData></worksheet>'),
  ]);
  return makeZip([
    TYPES,
    { name: '_rels/.rels', content: relationsXml([{ id: 'r1', type: 'officeDocument', target: 'xl/workbook.xml' }]) },
    {
      name: 'xl/workbook.xml',
      content: `${XML}<workbook xmlns:r="r"><sheets><sheet name="Data" sheetId="1" r:id="s1"/><sheet name="Secret" sheetId="2" state="hidden" r:id="s1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationsXml([
        { id: 's1', type: 'worksheet', target: 'worksheets/sheet1.xml' },
        { id: 's2', type: 'sharedStrings', target: 'sharedStrings.xml' },
        { id: 's3', type: 'styles', target: 'styles.xml' },
      ]),
    },
    { name: 'xl/worksheets/sheet1.xml', content: sheet },
    ...shared,
    ...more,
  ]);
}

export interface SlideOf {
  /** Shapes of PresentationML. */
  shapes: Buffer | string;
  /** Attributes of the slide's root element. */
  attributes?: string;
  relations?: readonly RelationOf[];
}

/** A shape with these paragraphs of DrawingML. @param type of its placeholder; none if undefined */
export function slideShape(paragraphs: string, type?: string, attributes = ''): string {
  const placeholder = type === undefined ? '' : type === 'body' ? '<p:ph idx="1"/>' : `<p:ph type="${type}"/>`;
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x" ${attributes}/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`;
}

export const slideText = (text: string, properties = '') => `<a:p>${properties}<a:r><a:t>${text}</a:t></a:r></a:p>`;

/** Writes a presentation. Its slides are listed in this order, but stored in the opposite order. */
export function makePptx(slides: readonly SlideOf[], more: readonly ZipEntry[] = []): Buffer {
  const partOf = (index: number) => `slides/slide${slides.length - index}.xml`;
  const root = 'xmlns:p="p" xmlns:a="a" xmlns:r="r"';
  const ids = slides.map((_, index) => `<p:sldId id="${index + 256}" r:id="s${index}"/>`).join('');
  return makeZip([
    TYPES,
    {
      name: '_rels/.rels',
      content: relationsXml([{ id: 'r1', type: 'officeDocument', target: 'ppt/presentation.xml' }]),
    },
    {
      name: 'ppt/presentation.xml',
      content: `${XML}<p:presentation ${root}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    },
    {
      name: 'ppt/_rels/presentation.xml.rels',
      content: relationsXml(slides.map((_, index) => ({ id: `s${index}`, type: 'slide', target: partOf(index) }))),
    },
    ...slides.flatMap(({ shapes, attributes = '', relations = [] }, index) => [
      {
        name: `ppt/${partOf(index)}`,
        content: Buffer.concat([
          Buffer.from(`${XML}<p:sld ${root} ${attributes}><p:cSld><p:spTree>`),
          Buffer.from(shapes as string),
          Buffer.from('</p:spTree></p:cSld></p:sld>'),
        ]),
      },
      { name: `ppt/slides/_rels/slide${slides.length - index}.xml.rels`, content: relationsXml(relations) },
    ]),
    ...more,
  ]);
}
