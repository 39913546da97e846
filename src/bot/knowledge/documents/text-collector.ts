import {
  MAX_PICTURE_BYTES,
  MAX_PICTURES,
  MAX_TEXT_CHARS,
  type DocumentPart,
  type DocumentPicture,
  type ReadDocument,
} from './document.ts';

/** The reader stops by itself before the caller's time limit ends the process. Milliseconds. */
const READING_MS = 8_000;
/** Assumed time until the next check. */
const NEXT_PART_MS = 2_000;
/** Pages or sections. */
const MAX_PARTS = 10_000;
/** Labels are shown to users. */
const MAX_LABEL_CHARS = 80;
const MAX_UNREAD_NAMES = 20;

/** Collects the text and images of a document within the limits. */
export class TextCollector {
  readonly #parts: DocumentPart[] = [];
  readonly #pictures: DocumentPicture[] = [];
  readonly #endMs = performance.now() + READING_MS;
  #leftChars = MAX_TEXT_CHARS;
  #leftPictureBytes = MAX_PICTURE_BYTES;
  #cutAt: string | undefined;

  /** Whether the reader should stop. @param nextMs expected time for the next part */
  isFull(nextMs = NEXT_PART_MS): boolean {
    return this.#cutAt !== undefined || performance.now() + nextMs > this.#endMs;
  }

  /** Truncates text that does not fit. Everything after it is dropped. */
  add(text: string, label?: string): void {
    const trimmed = text.trim();
    if (trimmed === '' || this.#cutAt !== undefined) return;
    const name = label === undefined ? undefined : shortLabel(label);
    if (trimmed.length <= this.#leftChars && this.#parts.length < MAX_PARTS) {
      this.#leftChars -= trimmed.length;
      this.#parts.push({ label: name, text: trimmed });
      return;
    }
    if (this.#leftChars > 0 && this.#parts.length < MAX_PARTS)
      this.#parts.push({ label: name, text: trimmed.slice(0, this.#leftChars) });
    this.cut(name);
  }

  /** States at the beginning of the document what was left out, so that nobody takes the text for the whole. */
  nameUnread(what: string, names: readonly (string | number)[]): void {
    const [first, ...others] = names.slice(0, MAX_UNREAD_NAMES).map((name) => shortLabel(String(name)));
    if (first === undefined) return;
    const more = names.length > MAX_UNREAD_NAMES ? ` and ${names.length - MAX_UNREAD_NAMES} more` : '';
    this.#parts.unshift({ text: `(${what}, not read: ${[first, ...others].join(', ')}${more}.)` });
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#pictures.length === 0;
  }

  /** Marks the document as truncated. */
  cut(label?: string): void {
    this.#cutAt ??= label ?? this.#parts.at(-1)?.label ?? 'the beginning';
  }

  get wantsPictures(): boolean {
    return this.#pictures.length < MAX_PICTURES && this.#leftPictureBytes > 0;
  }

  addPicture(picture: DocumentPicture): void {
    if (!this.wantsPictures || picture.bytes.length > this.#leftPictureBytes) return;
    this.#leftPictureBytes -= picture.bytes.length;
    this.#pictures.push({ ...picture, label: shortLabel(picture.label) });
  }

  result(more: Pick<ReadDocument, 'title' | 'pageCount' | 'hasMacros'> = {}): ReadDocument {
    const { title, ...facts } = more;
    const short = title === undefined ? '' : shortLabel(title);
    return {
      title: short === '' ? undefined : short,
      parts: this.#parts,
      pictures: this.#pictures,
      cutAt: this.#cutAt,
      ...facts,
    };
  }
}

function shortLabel(label: string): string {
  const line = label.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_LABEL_CHARS ? line : `${line.slice(0, MAX_LABEL_CHARS - 1)}…`;
}
