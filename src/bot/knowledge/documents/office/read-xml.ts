import { SaxesParser } from 'saxes';
import { MIB_BYTES } from '../../../../shared/clock.ts';
import { brokenDocument, DocumentError } from '../document.ts';

/** Tables in tables have some dozens. */
const MOST_DEPTH = 200;
/** A text, or a tag with its attributes, is held as a whole until it ends. */
const MOST_QUIET_BYTES = 4 * MIB_BYTES;

/** What a reader of XML wants to hear. Names come without their prefix; attributes with it. */
export interface XmlListener {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
  /** Nothing more is read then. */
  isDone?(): boolean;
}

/**
 * Reads XML as it comes. Nothing outside is fetched and no entity but the five of XML is known: a document type of its own is refused.
 * @throws DocumentError `broken`; `too_heavy` when it nests too deeply
 */
export async function readXml(pieces: AsyncIterable<Buffer>, listener: XmlListener): Promise<void> {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  let quietBytes = 0;
  parser.on('error', (error) => {
    throw brokenDocument('A part of the document is no XML', error);
  });
  parser.on('doctype', () => {
    throw brokenDocument('A part of the document declares a type of its own');
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    quietBytes = 0;
    if (depth > MOST_DEPTH) throw new DocumentError('too_heavy', 'The document nests too deeply');
    listener.open?.(localName(name), attributes as Record<string, string>);
  });
  parser.on('closetag', ({ name }) => {
    quietBytes = 0;
    depth -= 1;
    listener.close?.(localName(name));
  });
  if (listener.text) parser.on('text', (text) => listener.text?.(text));
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(encodingOf(piece));
    quietBytes += piece.length;
    if (quietBytes > MOST_QUIET_BYTES) throw new DocumentError('too_heavy', 'A piece of the document has no end');
    parser.write(decoder.decode(piece, { stream: true }));
    if (listener.isDone?.() === true) return;
  }
  // Of a part that is not there, nothing came.
  if (decoder) parser.close();
}

/** The part of a name behind its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** An attribute by the part of its name behind the prefix, which differs from writer to writer. */
export function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(attributes).find((known) => localName(known) === name);
  return key === undefined ? undefined : attributes[key];
}

function encodingOf(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
}
