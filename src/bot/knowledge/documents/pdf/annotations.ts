import type { Box } from './char-boxes.ts';
import { readWideText, type Pdfium } from './open-pdfium.ts';

/** Where the text of an annotation belongs: beside its box, or behind the text that the box covers. */
export type AnnotationPlace = 'field' | 'tick' | 'comment';

/** Text of a form field or an annotation that is not part of the page's content. */
export interface Annotation {
  box: Box;
  place: AnnotationPlace;
  /** The text, given what the page shows inside of the box. */
  write(shown: string): string;
}

const SUBTYPE = { text: 1, link: 2, freeText: 3, popup: 16, widget: 20 };
const FIELD = { pushButton: 1, checkBox: 2, radioButton: 3, comboBox: 4, listBox: 5, text: 6 };
/** Annotation flags Hidden and NoView. */
const UNSHOWN_FLAGS = 2 | 32;
const PASSWORD_FLAG = 1 << 13;
/** Of a page with more annotations, none is read. A dense form has 300 fields. */
const MAX_ANNOTATIONS = 1_000;
const MAX_VALUE_CHARS = 20_000;
/** Of longer lists only the selected options are written. */
const MAX_OPTIONS = 50;
const MAX_SELECTABLE_OPTIONS = 1_000;
/** Smaller boxes are invisible. Points. */
const MIN_SIDE = 1;

/** Whether a page has annotations to read, other than links. Most pages have none. */
export function hasAnnotations(pdfium: Pdfium, page: number): boolean {
  const count = pdfium.FPDFPage_GetAnnotCount(page);
  if (count > MAX_ANNOTATIONS) return false;
  for (let index = 0; index < count; index += 1) {
    const annot = pdfium.FPDFPage_GetAnnot(page, index);
    const subtype = annot === 0 ? SUBTYPE.link : pdfium.FPDFAnnot_GetSubtype(annot);
    if (annot !== 0) pdfium.FPDFPage_CloseAnnot(annot);
    if (subtype !== SUBTYPE.link && subtype !== SUBTYPE.popup) return true;
  }
  return false;
}

/**
 * Reads the form fields and annotations of a page, except links and what is hidden.
 * @param form handle of the form environment
 */
export function readAnnotations(pdfium: Pdfium, form: number, page: number): Annotation[] {
  const count = pdfium.FPDFPage_GetAnnotCount(page);
  const annotations: Annotation[] = [];
  for (let index = 0; index < count; index += 1) {
    const annot = pdfium.FPDFPage_GetAnnot(page, index);
    if (annot === 0) continue;
    const read = readAnnotation(pdfium, form, annot);
    if (read) annotations.push(read);
    pdfium.FPDFPage_CloseAnnot(annot);
  }
  return annotations;
}

function readAnnotation(pdfium: Pdfium, form: number, annot: number): Annotation | undefined {
  const subtype = pdfium.FPDFAnnot_GetSubtype(annot);
  const box = boxOf(pdfium, annot);
  if (!box || subtype === SUBTYPE.link || subtype === SUBTYPE.popup) return undefined;
  if ((pdfium.FPDFAnnot_GetFlags(annot) & UNSHOWN_FLAGS) !== 0) return undefined;
  if (subtype === SUBTYPE.widget) return readField(pdfium, form, annot, box);
  const contents = readWideText(pdfium, MAX_VALUE_CHARS, (at, bytes) =>
    pdfium.FPDFAnnot_GetStringValue(annot, 'Contents', at, bytes),
  ).trim();
  // A right-to-left text is stored in reading order, but shown in the order of its glyphs.
  if (subtype === SUBTYPE.freeText)
    return { box, place: 'field', write: (shown) => (contents === '' ? shown : contents) };
  const note = contents === '' ? '' : `[comment: ${contents}]`;
  return {
    box,
    place: 'comment',
    write: (shown) =>
      [shown, shown !== '' && isSame(shown, contents) ? '' : note].filter((text) => text !== '').join(' '),
  };
}

function readField(pdfium: Pdfium, form: number, annot: number, box: Box): Annotation {
  const type = pdfium.FPDFAnnot_GetFormFieldType(form, annot);
  if (type === FIELD.checkBox || type === FIELD.radioButton) {
    const tick = pdfium.FPDFAnnot_IsChecked(form, annot) ? '[x]' : '[ ]';
    return { box, place: 'tick', write: () => tick };
  }
  if (type === FIELD.listBox) {
    const options = readOptions(pdfium, form, annot);
    return { box, place: 'field', write: (shown) => (options === '' ? shown : options) };
  }
  const isPassword = (pdfium.FPDFAnnot_GetFormFieldFlags(form, annot) & PASSWORD_FLAG) !== 0;
  const hasValue = type === FIELD.comboBox || (type === FIELD.text && !isPassword);
  const value = hasValue
    ? readWideText(pdfium, MAX_VALUE_CHARS, (at, bytes) =>
        pdfium.FPDFAnnot_GetFormFieldValue(form, annot, at, bytes),
      ).trim()
    : '';
  // What is shown is formatted, for example as an amount. The value keeps the blanks of a field with one box per letter.
  return { box, place: 'field', write: (shown) => (shown === '' || isSame(shown, value) ? value : shown) };
}

function readOptions(pdfium: Pdfium, form: number, annot: number): string {
  const count = Math.min(pdfium.FPDFAnnot_GetOptionCount(form, annot), MAX_SELECTABLE_OPTIONS);
  const options: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const isSelected = pdfium.FPDFAnnot_IsOptionSelected(form, annot, index);
    if (!isSelected && count > MAX_OPTIONS) continue;
    const label = readWideText(pdfium, MAX_VALUE_CHARS, (at, bytes) =>
      pdfium.FPDFAnnot_GetOptionLabel(form, annot, index, at, bytes),
    );
    options.push(`${isSelected ? '[x]' : '[ ]'} ${label.trim()}`);
  }
  return options.join('  ');
}

function boxOf(pdfium: Pdfium, annot: number): Box | undefined {
  const memory = pdfium.pdfium.wasmExports;
  const at = memory.malloc(4 * 4);
  const isRead = pdfium.FPDFAnnot_GetRect(annot, at);
  // In the order of FS_RECTF.
  const [left = 0, top = 0, right = 0, bottom = 0] = [0, 4, 8, 12].map((offset) =>
    pdfium.pdfium.getValue(at + offset, 'float'),
  );
  memory.free(at);
  const box = {
    left: Math.min(left, right),
    right: Math.max(left, right),
    bottom: Math.min(top, bottom),
    top: Math.max(top, bottom),
  };
  return isRead && box.right - box.left >= MIN_SIDE && box.top - box.bottom >= MIN_SIDE ? box : undefined;
}

/** Whether two texts differ in white space only. */
function isSame(one: string, other: string): boolean {
  return one.replace(/\s+/g, '') === other.replace(/\s+/g, '');
}
