import { SaxesParser } from 'saxes';
import { MIB_BYTES } from '../../../../shared/clock.ts';
import { brokenDocument, DocumentError } from '../document.ts';

/** Nested tables reach a few dozen levels. */
const MAX_DEPTH = 200;
/** Maximum bytes without a parser event. The parser buffers a text node or a tag until it ends. */
const MAX_QUIET_BYTES = 4 * MIB_BYTES;

/** Receives XML events. Element names have no prefix; attribute names keep it. */
export interface XmlListener {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
  /** If true, the rest is not read. */
  isDone?(): boolean;
}

/**
 * Parses XML as a stream. External entities are not fetched, only the five predefined entities are known, and a document
 * type declaration is refused.
 * @throws DocumentError `broken`; `too_heavy` if nested too deeply
 */
export async function readXml(pieces: AsyncIterable<Buffer>, listener: XmlListener): Promise<void> {
  const parser = new SaxesParser({ position: false });
  let depth = 0;
  let quietBytes = 0;
  parser.on('error', (error) => {
    throw brokenDocument('A part of the document is not XML', error);
  });
  parser.on('doctype', () => {
    throw brokenDocument('A part of the document declares its own document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    quietBytes = 0;
    if (depth > MAX_DEPTH) throw new DocumentError('too_heavy', 'The document nests too deeply');
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
    if (quietBytes > MAX_QUIET_BYTES) throw new DocumentError('too_heavy', 'A part of the document is cut off');
    parser.write(decoder.decode(piece, { stream: true }));
    if (listener.isDone?.() === true) return;
  }
  // If the part does not exist, there was no input.
  if (decoder) parser.close();
}

/** A name without its namespace prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Finds an attribute by its local name. Prefixes differ between producers. */
export function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  const key = Object.keys(attributes).find((known) => localName(known) === name);
  return key === undefined ? undefined : attributes[key];
}

function encodingOf(head: Buffer): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
}
