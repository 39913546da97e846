import { MIB_BYTES } from '../../../shared/clock.ts';
import { CodedError } from '../../../shared/coded-error.ts';

/**
 * Why a document cannot be read. `unsupported`: of no kind that is read; `old_office`: Word, Excel or PowerPoint of before 2007;
 * `archive`: it holds other files; `encrypted`: it wants a password; `broken`: it ends early or contradicts itself, or is made to
 * mislead; `too_large`: bytes; `too_heavy`: reading it took too much time or memory; `not_read`: the process that reads documents ended twice, which says nothing of the document;
 * `no_text`: there is neither text nor a picture in it.
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

/** Thrown when bytes cannot be read as a document. */
export class DocumentError extends CodedError<DocumentFault> {}

export function brokenDocument(what: string, cause?: unknown): DocumentError {
  return new DocumentError('broken', what, cause === undefined ? undefined : { cause });
}

/** What the sender says of a document. Its content counts first. */
export interface DocumentHint {
  name: string;
  mediaType?: string;
}

/** A piece of a document that people can find again. */
export interface DocumentPart {
  /** `page 3`, `sheet Budget`, `section Opening hours`, `rows 201–400`. */
  label?: string;
  /** Markdown, or plain text where the document knows no more. */
  text: string;
}

/** A scanned page, or a picture that stands in the document; not yet judged by whoever decodes images. */
export interface DocumentPicture {
  label: string;
  bytes: Buffer;
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
}

export interface ReadDocument {
  /** What the document calls itself. */
  title?: string;
  /** In their order; what it says in all is at most `MOST_TEXT_CHARS`. */
  parts: DocumentPart[];
  pictures: DocumentPicture[];
  /** The label of the last part that was read, or as much as is known of it, where more follows that was not. */
  cutAt?: string;
  /** Of a PDF. */
  pageCount?: number;
  /** It holds a program, which nobody ran and nobody read. */
  hasMacros?: boolean;
}

export const MAX_DOCUMENT_BYTES = 20 * MIB_BYTES;
/** Of one document: far more than a prompt takes; what is longer is cut at a named place. */
export const MOST_TEXT_CHARS = 2_000_000;
/** As many as a question's own images may be, and less. */
export const MOST_PICTURES = 8;
/** Of all pictures of a document together. */
export const MOST_PICTURE_BYTES = 12 * MIB_BYTES;
