import { RegExpParser, type AST } from '@eslint-community/regexpp';

export interface Pump {
  opening: string;
  /** Repeated any number of times. */
  unit: string;
}

/**
 * Characters that expressions distinguish: line breaks of all kinds, spaces, invisible characters, brackets, punctuation,
 * letters, digits.
 */
const CHARACTERS = [
  ...'aA0_ \t\n\r\v\u0085\u2028\u2029\u00a0\u3000\u200b\ufeff\0\ufffd中。é\u0301',
  ...'[](){}<>|"\'`*#=!?:;,./\\-+@&$%^~',
  '\u{20000}',
];
/** Characters tested for one quantifier. */
const MAX_CHARACTERS = 6;
const MAX_PUMPS = 24;

type Unit = AST.Quantifier['element'];

/**
 * Texts on which an expression may have quadratic cost: for each repetition in it, the repeated text, alone and with the
 * preceding text, so that every repetition is a new beginning.
 */
export function pumpsOf(source: string, flags: string): Pump[] {
  const { pattern } = new RegExpParser().parseLiteral(`/${source}/${flags}`);
  const matching = matcher(flags);
  const pumps = new Map<string, Pump>();
  const add = (opening: string, unit: string) => {
    if (unit !== '') pumps.set(JSON.stringify([opening, unit]), { opening, unit });
  };
  const visit = (alternatives: readonly AST.Alternative[], openings: readonly string[]): void => {
    for (const { elements } of alternatives) {
      let before = openings;
      for (const element of elements) {
        if (element.type === 'Quantifier') {
          if (element.max > 20)
            for (const opening of before)
              for (const unit of repeated(element.element, matching)) {
                add(opening, unit);
                add('', opening + unit);
              }
          if (hasAlternatives(element.element)) visit(element.element.alternatives, before);
        } else if (hasAlternatives(element)) visit(element.alternatives, before);
        const samples = samplesOf(element, matching).slice(0, 2);
        before = before.flatMap((opening) => samples.map((sample) => opening + sample)).slice(0, 4);
      }
    }
  };
  visit(pattern.alternatives, ['']);
  return [...pumps.values()].slice(0, MAX_PUMPS);
}

type Matching = (unit: Unit | AST.Element) => string[];

/** The characters that match a unit by themselves. */
function matcher(flags: string): Matching {
  const plain = flags.replace(/[gym]/g, '');
  return ({ raw }) => {
    const alone = new RegExp(`^(?:${raw})$`, plain);
    return CHARACTERS.filter((character) => alone.test(character));
  };
}

/** Texts that a quantifier repeats: characters of each kind, and longer samples. */
function repeated(unit: Unit, matching: Matching): string[] {
  if (hasAlternatives(unit)) return samplesOf(unit, matching);
  const all = matching(unit);
  // Some from the whole list, since most expressions expect its beginning.
  const step = Math.max(1, Math.floor(all.length / MAX_CHARACTERS));
  const chosen = all.filter((character, index) => index % step === 0 || /[\r\u2028 \t]/.test(character));
  return chosen.length > 0 ? chosen : samplesOf(unit, matching);
}

function hasAlternatives(node: AST.Element): node is AST.Group | AST.CapturingGroup | AST.LookaroundAssertion {
  return node.type !== 'ExpressionCharacterClass' && 'alternatives' in node;
}

/** Some texts that an element matches. */
function samplesOf(element: AST.Element, matching: Matching): string[] {
  switch (element.type) {
    case 'Character':
      return [String.fromCodePoint(element.value)];
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass': {
      const all = matching(element);
      return all.length > 0 ? all : [''];
    }
    case 'Quantifier': {
      const times = Math.min(element.min, 40);
      const samples = samplesOf(element.element, matching);
      return element.min === 0 ? ['', ...samples] : samples.map((sample) => sample.repeat(times));
    }
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.flatMap(({ elements }) =>
        elements.reduce<string[]>(
          (before, next) =>
            before
              .flatMap((text) =>
                samplesOf(next, matching)
                  .slice(0, 2)
                  .map((sample) => text + sample),
              )
              .slice(0, 4),
          [''],
        ),
      );
    case 'Assertion':
    case 'Backreference':
      return [''];
  }
}
