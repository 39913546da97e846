// Extracts readable text from one page in a separate thread, which is terminated if untrusted HTML takes too long. Plain
// JavaScript, so that it runs from both src/ and dist/.
import { parentPort, workerData } from 'node:worker_threads';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';

const MAX_ELEMENTS = 30_000;
const BLOCKS = 'p,div,li,tr,br,h1,h2,h3,h4,h5,h6,section,article,pre,blockquote,dt,dd,table,ul,ol';
const UNSEEN = 'script,style,noscript,template,svg,iframe,object,head';

/** Parses HTML as a full document; a fragment is wrapped in `<html><body>`. */
function parse(html) {
  return parseHTML(/<html[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`).document;
}

/** The text, with one line per block element. */
function textOf({ documentElement: root }) {
  if (!root) return '';
  for (const element of root.querySelectorAll(UNSEEN)) element.remove();
  for (const element of root.querySelectorAll(BLOCKS)) element.append('\n');
  return (root.textContent ?? '')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}

/** The article, or all visible text if there is no article. */
function read(html) {
  const title = (parse(html).querySelector('title')?.textContent ?? '').trim();
  try {
    const article = new Readability(parse(html), { maxElemsToParse: MAX_ELEMENTS }).parse();
    const text = article?.content ? textOf(parse(article.content)) : '';
    if (text !== '') return { title: article.title?.trim() || title, text };
  } catch {
    // The page has too many elements or no article.
  }
  return { title, text: textOf(parse(html)) };
}

parentPort.postMessage(read(workerData.html));
