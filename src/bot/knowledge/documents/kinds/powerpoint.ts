import type { ReadDocument } from '../document.ts';
import { TextCollector } from '../text-collector.ts';
import { addPicture, findRelation, hasMacros, readRelations, readTitle } from '../office/package.ts';
import { readXml } from '../office/read-xml.ts';
import { createSlideBody, type SlideBodyOptions, type SlideText } from '../office/slide-body.ts';
import type { Zip } from '../office/zip.ts';

const MAX_SLIDES = 2_000;
/** What PowerPoint writes if its user gives no title. */
const DEFAULT_TITLE = /^(PowerPoint|Presentation|演示文稿|簡報|幻灯片)/i;

interface Slide extends SlideText {
  diagrams: string;
  notes: string;
}

/**
 * Reads a presentation (.pptx): slides in order, each with its title, text, tables, SmartArt, images and notes. Hidden
 * slides are named, but not read. Leaves out hidden shapes, footers and the text of layouts. Macros are not read and
 * external references are not fetched.
 */
export async function readPowerPoint(zip: Zip, main: string): Promise<ReadDocument> {
  const gathering = new TextCollector();
  const pictures = new Map<string, { number: number; label: string }>();
  const hidden: number[] = [];
  let firstTitle: string | undefined;
  for (const [index, part] of (await readSlides(zip, main)).entries()) {
    if (gathering.isFull()) break;
    const label = `slide ${index + 1}`;
    const slide = await readSlide(zip, part, {
      onPicture: (target) => {
        const known = pictures.get(target) ?? { number: pictures.size + 1, label };
        pictures.set(target, known);
        return `[picture ${known.number}]`;
      },
      isFull: () => gathering.isFull(),
    });
    if (slide.isHidden) hidden.push(index + 1);
    else {
      firstTitle ??= slide.title === '' ? undefined : slide.title;
      gathering.add(writeSlide(slide), label);
    }
  }
  if (gathering.isFull()) gathering.cut();
  gathering.nameUnread('Hidden slides', hidden);
  for (const [target, { number, label }] of pictures)
    await addPicture(zip, target, `${label}, picture ${number}`, gathering);
  const title = await readTitle(zip);
  const isOwn = title !== undefined && !DEFAULT_TITLE.test(title.trim());
  return gathering.result({ title: isOwn ? title : firstTitle, hasMacros: hasMacros(zip) });
}

async function readSlides(zip: Zip, main: string): Promise<string[]> {
  const relations = await readRelations(zip, main);
  const slides = new Set<string>();
  await readXml(zip.pieces(main), {
    open(name, attributes) {
      const key = Object.keys(attributes).find((known) => known.endsWith(':id')) ?? '';
      const part = name === 'sldId' ? relations.get(attributes[key] ?? '')?.target : undefined;
      if (part !== undefined && slides.size < MAX_SLIDES) slides.add(part);
    },
  });
  return [...slides];
}

interface SlideOptions extends Pick<SlideBodyOptions, 'isFull'> {
  /** @param target the part of the image @returns the text to insert */
  onPicture(target: string): string;
}

async function readSlide(zip: Zip, part: string, { onPicture, isFull }: SlideOptions): Promise<Slide> {
  const relations = await readRelations(zip, part);
  const diagrams: string[] = [];
  const body = createSlideBody({
    onPicture: (id) => {
      const relation = relations.get(id);
      return relation?.type === 'image' ? onPicture(relation.target) : '';
    },
    onDiagram: (id) => diagrams.push(relations.get(id)?.target ?? ''),
    isFull,
  });
  await readXml(zip.pieces(part), body);
  const slide = body.result();
  if (slide.isHidden) return { ...slide, diagrams: '', notes: '' };
  const texts: string[] = [];
  for (const target of new Set(diagrams)) texts.push((await readText(zip, target, { isFull })).text);
  const notes = findRelation(relations, 'notesSlide');
  return {
    ...slide,
    diagrams: texts.join('\n\n'),
    notes: notes === undefined ? '' : (await readText(zip, notes, { placeholder: 'body', isFull })).text,
  };
}

async function readText(zip: Zip, part: string, options: SlideBodyOptions): Promise<SlideText> {
  const body = createSlideBody(options);
  await readXml(zip.pieces(part), body);
  return body.result();
}

function writeSlide({ title, text, diagrams, notes }: Slide): string {
  return [title === '' ? '' : `# ${title}`, text, diagrams, notes === '' ? '' : `Notes:\n${notes}`]
    .filter((block) => block !== '')
    .join('\n\n');
}
