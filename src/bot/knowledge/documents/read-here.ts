import { DocumentError, type DocumentHint, type ReadDocument } from './document.ts';
import { KINDS } from './kinds/registry.ts';
import { tellKind } from './detect-type.ts';

/** Reads a document in this process, which is meant to be one that may end. @throws DocumentError; whatever a bad document breaks */
export async function readHere(bytes: Buffer, hint: DocumentHint): Promise<ReadDocument> {
  const document = await KINDS[tellKind(bytes, hint)](bytes);
  if (document.parts.length > 0 || document.pictures.length > 0) return document;
  // Its time was over before anything was found.
  const code = document.cutAt === undefined ? 'no_text' : 'too_heavy';
  throw new DocumentError(code, 'There is nothing to read in the document');
}
