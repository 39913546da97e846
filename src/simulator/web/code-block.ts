import { iconHtml } from './icon-paths.ts';

/** Colours code, as HTML; undefined for a language that it does not know. */
export type PaintCode = (code: string, language: string) => string | undefined;

/** One block of code, and what stands around it. */
export interface CodeBlock {
  code: string;
  /** As it is named beside the fence; empty where it is not. */
  language: string;
  copyLabel: string;
  /** The code with its parts in colours; absent where they are not known. */
  html: string | undefined;
}

/**
 * A code block as HTML. Language and what is said at the button stand in attributes: the style sheet shows them, and copied or read
 * text stays the code alone.
 */
export function codeBlock({ code, language, copyLabel, html }: CodeBlock): string {
  const copy = `<button type="button" class="icon-button copy-code" data-copy aria-label="${escapeHtml(copyLabel)}">${iconHtml('copy')}</button>`;
  const said = '<span class="said" role="status"></span>';
  const shown = html ?? escapeHtml(code);
  return `<div class="code" dir="ltr" data-language="${escapeHtml(language)}">${said}${copy}<pre tabindex="0"><code>${shown}</code></pre></div>`;
}

/** A text as HTML shows it. */
export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
