import { attributeOf, readXml } from './read-xml.ts';
import type { Zip } from './zip.ts';

/** The semantic properties of a paragraph style. */
export interface WordStyle {
  /** 1-based. */
  headingLevel?: number;
  numId?: string;
  numDepth?: number;
  basedOn?: string;
}

const MAX_STYLES = 5_000;
const MAX_ANCESTORS = 10;

/** Styles by id, including the properties inherited from their base styles. */
export async function readWordStyles(zip: Zip, part: string | undefined): Promise<Map<string, WordStyle>> {
  const styles = new Map<string, WordStyle>();
  let style: WordStyle | undefined;
  if (part !== undefined)
    await readXml(zip.pieces(part), {
      open(name, attributes) {
        const value = attributeOf(attributes, 'val') ?? '';
        if (name === 'style' && styles.size < MAX_STYLES)
          styles.set(attributeOf(attributes, 'styleId') ?? '', (style = {}));
        else if (!style) return;
        else if (name === 'name') style.headingLevel ??= levelOfName(value);
        else if (name === 'outlineLvl' && Number(value) < 9) style.headingLevel = Number(value) + 1;
        else if (name === 'numId') style.numId = value;
        else if (name === 'ilvl') style.numDepth = Number(value);
        else if (name === 'basedOn') style.basedOn = value;
      },
      close(name) {
        if (name === 'style') style = undefined;
      },
    });
  return new Map([...styles].map(([id, own]) => [id, withAncestors(own, styles)]));
}

/** The names of heading styles are the same in every language version of Word. */
function levelOfName(name: string): number | undefined {
  const level = /^heading (\d)$/i.exec(name)?.[1];
  if (level !== undefined) return Number(level);
  return /^title$/i.test(name) ? 1 : undefined;
}

function withAncestors(own: WordStyle, styles: ReadonlyMap<string, WordStyle>): WordStyle {
  const whole = { ...own };
  let parent = own.basedOn;
  for (let count = 0; parent !== undefined && count < MAX_ANCESTORS; count += 1) {
    const style = styles.get(parent);
    whole.headingLevel ??= style?.headingLevel;
    whole.numId ??= style?.numId;
    whole.numDepth ??= style?.numDepth;
    parent = style?.basedOn;
  }
  return whole;
}
