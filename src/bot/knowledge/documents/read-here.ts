import { DocumentError, type DocumentHint, type ReadDocument } from './document.ts';
import { KINDS } from './kinds/registry.ts';
import { detectKind } from './detect-type.ts';

/**
 * Reads a document in this process, which should be a disposable one.
 * @throws DocumentError; any error that a malformed document causes
 */
export async function parseDocument(bytes: Buffer, hint: DocumentHint): Promise<ReadDocument> {
  const document = await KINDS[detectKind(bytes, hint)](bytes);
  if (document.parts.length > 0 || document.pictures.length > 0) return document;
  // Time ran out before any content was found.
  const code = document.cutAt === undefined ? 'no_text' : 'too_heavy';
  throw new DocumentError(code, 'The document contains no text');
}
