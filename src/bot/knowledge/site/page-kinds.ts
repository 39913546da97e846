import { KIB_BYTES, MIB_BYTES } from '../../../shared/clock.ts';

/** How a page of this media type is read. `apart`: in a separate process. */
export type PageKind = 'html' | 'markdown' | 'text' | 'apart';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const KINDS: Readonly<Record<string, PageKind>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'text',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/csv': 'apart',
  'text/tab-separated-values': 'apart',
  'application/pdf': 'apart',
  [`${OFFICE}.wordprocessingml.document`]: 'apart',
  [`${OFFICE}.spreadsheetml.sheet`]: 'apart',
  [`${OFFICE}.presentationml.presentation`]: 'apart',
};

/** For pages, and for documents among them. */
const MAX_HTML_BYTES = 2 * MIB_BYTES;
const MAX_DOCUMENT_BYTES = 10 * MIB_BYTES;
/** Maximum size of the metadata before a page's bytes. */
export const MAX_HEAD_BYTES = 16 * KIB_BYTES;

/** The `Accept` header of page requests. */
export const PAGE_TYPES = [...Object.keys(KINDS), '*/*;q=0.1'].join(', ');

/** @returns undefined if the media type is not supported */
export function pageKindOf(mediaType: string): PageKind | undefined {
  return Object.hasOwn(KINDS, mediaType) ? KINDS[mediaType] : undefined;
}

/** Maximum size of a page of this media type; undefined if the media type is not supported. */
export function maxBytesOf(mediaType: string): number | undefined {
  const kind = pageKindOf(mediaType);
  return kind && (kind === 'html' ? MAX_HTML_BYTES : MAX_DOCUMENT_BYTES);
}
