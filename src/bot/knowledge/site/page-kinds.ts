import { KIB_BYTES, MIB_BYTES } from '../../../shared/clock.ts';

/** How a page of this media type is read: `apart` in a process that may end. */
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
};

/** Of pages, and of documents that lie between them. */
const MOST_HTML_BYTES = 2 * MIB_BYTES;
const MOST_DOCUMENT_BYTES = 10 * MIB_BYTES;
/** What is noted of a page before its bytes. */
export const MOST_HEAD_BYTES = 16 * KIB_BYTES;

/** Media types, as a site is asked for them. */
export const PAGE_TYPES = [...Object.keys(KINDS), '*/*;q=0.1'].join(', ');

/** @returns undefined for what is no page and no document */
export function pageKindOf(mediaType: string): PageKind | undefined {
  return Object.hasOwn(KINDS, mediaType) ? KINDS[mediaType] : undefined;
}

/** How many bytes a page of this media type may have; undefined for what is none. */
export function mostBytesOf(mediaType: string): number | undefined {
  const kind = pageKindOf(mediaType);
  return kind && (kind === 'html' ? MOST_HTML_BYTES : MOST_DOCUMENT_BYTES);
}
