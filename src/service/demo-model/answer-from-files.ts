import { localize, type Language } from '../../shared/text/texts.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';
import { termsOf } from './question-terms.ts';
import { wordsOf } from './words.ts';

/** A file that the caller put in front of the question, with the name in its label. */
export interface LabelledFile {
  name: string;
  text: string;
}

const OPENING = /<file name="([^"\n]{0,200})"(?: from="[^"\n]{0,200}")?>\n/g;
const CLOSING = '\n</file>';
/** Label at the beginning of a page, slide, sheet or section. */
const PLACE = /^\[((?:pages?|slides?|sheet|section|rows) [^\]\n]{1,100}|\d+–\d+ %)\]$/;
const ASKS_ABOUT_FILES =
  /\b(file|document|attachment|pdf|slide|sheet|table|page|summar|it say)|文件|文档|附件|表格|幻灯片|摘要|总结|概括|第[^第页\n]+页/i;
/** A line about what was not read. */
const NOTE = /^\([^\n]*\)$/;
/** Words for a whole file, which select no part of it. Compared as stems and pairs of characters. */
const OF_ANY_FILE = /^(?:file|document|attachment|pdf|say|content|summar\w*|文件|文档|内容|附件|总结|概括|摘要)$/;
const MAX_PASSAGE_CHARS = 900;
const SHARE_OF_TERMS = 0.5;

/** The files of a message, and its remaining text. */
export function splitFiles(message: string): { files: LabelledFile[]; rest: string } {
  const files: LabelledFile[] = [];
  let rest = '';
  let from = 0;
  for (const opening of message.matchAll(OPENING)) {
    if (opening.index < from) continue;
    const textAt = opening.index + opening[0].length;
    const end = message.indexOf(CLOSING, textAt);
    if (end < 0) break;
    files.push({ name: opening[1] ?? '', text: message.slice(textAt, end) });
    rest += from === 0 ? message.slice(0, opening.index) : message.slice(from, opening.index).trimStart();
    from = end + CLOSING.length;
  }
  return { files, rest: files.length === 0 ? message : rest + message.slice(from).trimStart() };
}

interface Passage {
  name: string;
  place: string;
  text: string;
}

/**
 * Quotes the passage of the files that best fits the question; undefined if the question is clearly about something else.
 */
export function answerFromFiles(files: readonly LabelledFile[], question: Question): Finding | undefined {
  if (files.length === 0) return undefined;
  const { language } = question;
  const asks = question.text.toLowerCase();
  const named = files.filter(({ name }) => name !== '' && asks.includes(name.toLowerCase()));
  // The newest file is the last one.
  const passages = (named.length > 0 ? named : files).toReversed().flatMap(passagesOf);
  // Chapters and rows are identified by their numbers.
  const asked = termsOf(question.text, language).filter((term) => !OF_ANY_FILE.test(term));
  const terms = [...asked, ...(question.text.match(/\d+/g) ?? [])];
  const scored = passages.map((passage) => {
    const words = new Set(wordsOf(`${passage.place} ${passage.text}`));
    return { passage, score: terms.filter((term) => words.has(term)).length };
  });
  const best = scored.reduce((first, one) => (one.score > first.score ? one : first), scored[0] ?? NOTHING);
  const thought = localize(BUILT_IN_TEXTS.thoughtFile, language, { count: files.length });
  if (best.score > 0 && best.score >= terms.length * SHARE_OF_TERMS)
    return { text: localize(BUILT_IN_TEXTS.fileSays, language, told(best.passage, language)), thought };
  const first = passages.find(({ text }) => !NOTE.test(text)) ?? passages[0];
  if (first === undefined || (named.length === 0 && !ASKS_ABOUT_FILES.test(question.text))) return undefined;
  return { text: localize(BUILT_IN_TEXTS.fileBegins, language, told(first, language)), thought };
}

const NOTHING = { passage: { name: '', place: '', text: '' }, score: 0 };

function told({ name, place, text }: Passage, language: Language) {
  const cut = text.length <= MAX_PASSAGE_CHARS ? text : `${text.slice(0, MAX_PASSAGE_CHARS)}…`;
  const quoted = cut.startsWith('|') ? cut : cut.replace(/^/gm, '> ');
  return { name, place: placeIn(place, language), text: quoted };
}

/** The location as in its label; translated for Chinese. */
function placeIn(place: string, language: Language): string {
  if (place === '') return '';
  if (language === 'en') return ` (${place})`;
  const chinese = place
    .replace(/^page (\d+)$/, '第 $1 页')
    .replace(/^slide (\d+)$/, '第 $1 张幻灯片')
    .replace(/^sheet /, '工作表 ')
    .replace(/^section /, '小节 ');
  return `（${chinese}）`;
}

/** Blocks of a file with their locations. A short heading is joined with the following block. */
function passagesOf({ name, text }: LabelledFile): Passage[] {
  const passages: Passage[] = [];
  let place = '';
  let heading = '';
  for (const block of text.split(/\n{2,}|\n(?=\[[^\]\n]{1,100}\]\n)/)) {
    const [first = '', ...others] = block.split('\n');
    const label = PLACE.exec(first)?.[1];
    // A location label precedes its content. A line that consists of brackets states what was omitted.
    if (label !== undefined && others.length > 0) place = label;
    const said = (label === undefined ? block : others.join('\n')).trim();
    if (/^#{1,6} [^\n]*$/.test(said)) {
      heading = said;
      continue;
    }
    if (said !== '') passages.push({ name, place, text: heading === '' ? said : `${heading}\n${said}` });
    heading = '';
  }
  return passages;
}
