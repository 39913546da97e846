import { iconHtml } from './icon-paths.ts';

/** Highlights code as HTML; undefined for an unknown language. */
export type PaintCode = (code: string, language: string) => string | undefined;

/** A code block with its surroundings. */
export interface CodeBlock {
  code: string;
  /** Language name from the fence; empty if there is none. */
  language: string;
  copyLabel: string;
  /** The highlighted code; absent if the language is unknown. */
  html: string | undefined;
}

/**
 * A code block as HTML. The language and the button's label are attributes displayed by the style sheet, so that copied or
 * spoken text is only the code.
 */
export function codeBlock({ code, language, copyLabel, html }: CodeBlock): string {
  const copy = `<button type="button" class="icon-button copy-code" data-copy aria-label="${escapeHtml(copyLabel)}">${iconHtml('copy')}</button>`;
  const said = '<span class="said" role="status"></span>';
  const shown = html ?? escapeHtml(code);
  return `<div class="code" dir="ltr" data-language="${escapeHtml(language)}">${said}${copy}<pre tabindex="0"><code>${shown}</code></pre></div>`;
}

/** Escapes a text for HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
