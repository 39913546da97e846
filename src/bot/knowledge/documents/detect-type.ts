import { DocumentError, type DocumentHint } from './document.ts';

/** Detected by the first bytes; text formats by the file name. */
export type DocumentKind = 'pdf' | 'office' | 'html' | 'markdown' | 'csv' | 'text';

const PDF_MARK = '%PDF-';
/** PDF readers accept up to 1,024 bytes before the header. */
const PDF_HEAD_BYTES = 1_024;
const ZIP_MARK = Buffer.from('504b0304', 'hex');
const EMPTY_ZIP_MARK = Buffer.from('504b0506', 'hex');
/** Office files from before 2007 and encrypted current ones. */
const OLE_MARK = Buffer.from('d0cf11e0a1b11ae1', 'hex');
/** The stream name in an encrypted Office document, in UTF-16. */
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le');
const ARCHIVE_MARKS = ['526172211a07', '377abcaf271c', '1f8b', 'fd377a585a00', '425a68', '28b52ffd', '4d534346'];
const TAR_MARK_AT = 257;
/** Images, audio, video, executables, fonts and databases. None of these is a document. */
const OTHER_MARKS =
  /^(\x89PNG|\xff\xd8\xff|GIF8|RIFF|BM[^]{4}\0\0|II\*\0|MM\0\*|ID3|OggS|fLaC|\x7fELF|MZ|\xca\xfe\xba\xbe|\0\0\0.ftyp|\x1aE\xdf\xa3|SQLite|\{\\rtf|%!PS|wOF)/;
const XML_MARK = /^<\?xml[^>]*>/i;
const COMMENT_BEGIN = '<!--';
const COMMENT_END = '-->';
const HTML_MARK = /^<(!doctype html|html|head|body|title|meta)\b/i;

/**
 * Detects a document's type by its content first and its name second.
 * @throws DocumentError if the type is not supported
 */
export function detectKind(bytes: Buffer, { name, mediaType = '' }: DocumentHint): DocumentKind {
  if (bytes.subarray(0, PDF_HEAD_BYTES).includes(PDF_MARK)) return 'pdf';
  if (startsWith(bytes, ZIP_MARK) || startsWith(bytes, EMPTY_ZIP_MARK)) return 'office';
  if (startsWith(bytes, OLE_MARK)) {
    if (bytes.includes(ENCRYPTED_STREAM)) throw new DocumentError('encrypted', 'The document is encrypted');
    throw new DocumentError('old_office', 'The document has an Office format from before 2007');
  }
  if (isArchive(bytes)) throw new DocumentError('archive', 'The file is an archive');
  const head = bytes.toString('latin1', 0, 1_024);
  if (OTHER_MARKS.test(head)) throw new DocumentError('unsupported', 'The file is not a document');
  if (HTML_MARK.test(behindComments(head))) return 'html';
  return kindOfName(name, mediaType);
}

/** The text after the XML declaration and leading comments. */
function behindComments(head: string): string {
  let rest = head.trimStart().replace(XML_MARK, '').trimStart();
  while (rest.startsWith(COMMENT_BEGIN)) {
    const end = rest.indexOf(COMMENT_END, COMMENT_BEGIN.length);
    if (end < 0) return '';
    rest = rest.slice(end + COMMENT_END.length).trimStart();
  }
  return rest;
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}

function isArchive(bytes: Buffer): boolean {
  return (
    ARCHIVE_MARKS.some((mark) => startsWith(bytes, Buffer.from(mark, 'hex'))) ||
    bytes.toString('latin1', TAR_MARK_AT, TAR_MARK_AT + 5) === 'ustar'
  );
}

/** Text formats share no signature. Binary content is rejected later, when the text is decoded. */
function kindOfName(name: string, mediaType: string): DocumentKind {
  const ending = /\.([^.]+)$/.exec(name.toLowerCase())?.[1] ?? '';
  if (['htm', 'html', 'xhtml'].includes(ending) || /^text\/html\b|xhtml/.test(mediaType)) return 'html';
  if (['csv', 'tsv'].includes(ending) || /^text\/(csv|tab-separated-values)\b/.test(mediaType)) return 'csv';
  return ['md', 'markdown', 'mdx'].includes(ending) || /^text\/(x-)?markdown\b/.test(mediaType) ? 'markdown' : 'text';
}
