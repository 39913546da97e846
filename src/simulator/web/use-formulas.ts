import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { DrawFormula } from './formula-syntax.ts';

const STYLE_SHEET = '/katex.css';

let loaded: DrawFormula | undefined;
let styles: Promise<void> | undefined;

interface Place {
  readonly current: HTMLElement | null;
}

/**
 * Draws formulas, once the library is loaded: with its fonts it is larger than the rest of the page, so it is loaded when a
 * formula comes into view. @param first the first of the text's blocks
 */
export function useFormulas(first: Place, text: string, isWanted: boolean): DrawFormula | undefined {
  const [draw, setDraw] = useState(() => loaded);
  useEffect(() => {
    const formulas =
      isWanted && draw === undefined ? first.current?.parentElement?.querySelectorAll('.formula') : undefined;
    if (formulas === undefined || formulas.length === 0) return;
    let isMounted = true;
    const load = () =>
      import('./draw-formula.ts').then(
        async ({ drawFormula }) => {
          await loadStyles();
          loaded = drawFormula;
          if (isMounted) setDraw(() => drawFormula);
        },
        () => undefined, // The source stays readable.
      );
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      void load();
    });
    for (const formula of formulas) observer.observe(formula);
    return () => {
      isMounted = false;
      observer.disconnect();
    };
  }, [first, text, isWanted, draw]);
  return isWanted ? draw : undefined;
}

/**
 * Applies the measures of drawn formulas, after each change of the blocks: the page's content policy forbids style attributes,
 * but not styles that a script sets.
 */
export function useFormulaStyles(first: Place, blocks: readonly string[]): void {
  useLayoutEffect(() => {
    for (const element of first.current?.parentElement?.querySelectorAll<HTMLElement>('[data-style]') ?? []) {
      element.style.cssText = element.dataset['style'] ?? '';
      element.removeAttribute('data-style');
    }
  }, [first, blocks]);
}

/** Adds the library's style sheet. The fonts in it are loaded from the same server as they are used. */
function loadStyles(): Promise<void> {
  styles ??= new Promise((resolve) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: STYLE_SHEET });
    link.onload = () => resolve();
    link.onerror = () => resolve();
    document.head.append(link);
  });
  return styles;
}
