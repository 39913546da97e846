import { useMemo } from 'preact/hooks';
import { renderBlocks, textPieces } from './markdown.ts';
import { usePage } from './page-context.ts';

/** An answer's markdown. Blocks that did not change keep their nodes, so that a growing answer keeps selections and scroll places. */
export function MarkdownText({ text }: { text: string }) {
  const { say, isInApp } = usePage();
  const blocks = useMemo(() => renderBlocks(text, { isInApp, copyLabel: say('copyCode') }), [text, isInApp, say]);
  return (
    <>
      {blocks.map((html, index) => (
        <div key={index} class="block" dangerouslySetInnerHTML={{ __html: html }} />
      ))}
    </>
  );
}

/** What a person wrote: their very characters, with written-out addresses as links. */
export function PlainText({ text }: { text: string }) {
  const { isInApp } = usePage();
  const pieces = useMemo(() => textPieces(text), [text]);
  return (
    <span class="plain">
      {pieces.map((piece) =>
        piece.href === undefined ? (
          piece.text
        ) : (
          <a
            href={piece.href}
            rel="noopener noreferrer"
            {...(isInApp(piece.href) ? { 'data-in-app': true } : { target: '_blank' })}
          >
            {piece.text}
          </a>
        ),
      )}
    </span>
  );
}
