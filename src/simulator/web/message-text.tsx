import { useMemo, useRef } from 'preact/hooks';
import { mayHaveFormula } from './formula-syntax.ts';
import { renderBlocks, textPieces } from './markdown.ts';
import { usePage } from './page-context.ts';
import { useCodePaint } from './use-code-paint.ts';
import { useFormulas, useFormulaStyles } from './use-formulas.ts';

const FENCE = /^[ \t>]*(?:```|~~~)/m;

/**
 * An answer's markdown. Unchanged blocks keep their nodes, so that a growing answer preserves selections and scroll
 * positions.
 */
export function MarkdownText({ text }: { text: string }) {
  const { say, isInApp, cutMentions } = usePage();
  const first = useRef<HTMLDivElement>(null);
  const paint = useCodePaint(FENCE.test(text));
  const draw = useFormulas(first, text, mayHaveFormula(text));
  const blocks = useMemo(
    () => renderBlocks(text, { isInApp, copyLabel: say('copyCode'), cutMentions, paint, draw }),
    [text, isInApp, say, cutMentions, paint, draw],
  );
  useFormulaStyles(first, blocks);
  return (
    <>
      {blocks.map((html, index) => (
        <div
          key={index}
          ref={index === 0 ? first : undefined}
          class="block"
          dir="auto"
          dangerouslySetInnerHTML={{ __html: html }}
        />
      ))}
    </>
  );
}

/** A person's text, unchanged, with URLs as links and mentions highlighted. */
export function PlainText({ text }: { text: string }) {
  const { isInApp } = usePage();
  const pieces = useMemo(() => textPieces(text), [text]);
  return (
    <div class="plain" dir="auto">
      {pieces.map((piece) =>
        piece.href === undefined ? (
          <WithMentions text={piece.text} />
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
    </div>
  );
}

function WithMentions({ text }: { text: string }) {
  const { cutMentions } = usePage();
  return cutMentions(text).map((piece) => (piece.isMention ? <span class="mention">{piece.text}</span> : piece.text));
}
