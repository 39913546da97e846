import { MIB_BYTES } from '../../../shared/clock.ts';
import { CodedError } from '../../../shared/coded-error.ts';

/**
 * Why a document cannot be read. `unsupported`: unknown type; `old_office`: Word, Excel or PowerPoint from before 2007;
 * `archive`: contains other files; `encrypted`: needs a password; `broken`: truncated, contradictory or deliberately
 * misleading; `too_large`: too many bytes; `too_heavy`: reading took too much time or memory; `not_read`: the reader process
 * ended twice, which is not the document's fault; `no_text`: contains neither text nor images.
 */
export const DOCUMENT_FAULTS = [
  'unsupported',
  'old_office',
  'archive',
  'encrypted',
  'broken',
  'too_large',
  'too_heavy',
  'not_read',
  'no_text',
] as const;
export type DocumentFault = (typeof DOCUMENT_FAULTS)[number];

export class DocumentError extends CodedError<DocumentFault> {}

export function brokenDocument(what: string, cause?: unknown): DocumentError {
  return new DocumentError('broken', what, cause === undefined ? undefined : { cause });
}

/** What the sender states about a document. The content takes precedence. */
export interface DocumentHint {
  name: string;
  mediaType?: string;
}

/** A part of a document with a label by which people can find it. */
export interface DocumentPart {
  /** For example `page 3`, `sheet Budget`, `section Opening hours`, `rows 201–400`. */
  label?: string;
  /** Markdown, or plain text if the document has no structure. */
  text: string;
}

/** A scanned page or an embedded image. Not yet validated by the image decoder. */
export interface DocumentPicture {
  label: string;
  bytes: Buffer;
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
}

export interface ReadDocument {
  /** The title in the document's own metadata or content. */
  title?: string;
  /** In document order. At most `MAX_TEXT_CHARS` in total. */
  parts: DocumentPart[];
  pictures: DocumentPicture[];
  /** Set if the document was truncated: the label of the last part that was read, if known. */
  cutAt?: string;
  /** PDF only. */
  pageCount?: number;
  /** The document contains macros. They are neither run nor read. */
  hasMacros?: boolean;
}

export const MAX_DOCUMENT_BYTES = 20 * MIB_BYTES;
/** Maximum text per document, far more than fits into a prompt. Longer documents are cut, and `cutAt` names the place. */
export const MAX_TEXT_CHARS = 2_000_000;
/** At most as many as the images of a question. */
export const MAX_PICTURES = 8;
/** Total for all images of a document. */
export const MAX_PICTURE_BYTES = 12 * MIB_BYTES;
