import { describe, expect, test } from '@jest/globals';
import { decodeText } from '../../../../src/bot/knowledge/documents/text/decode-text.ts';

const SIMPLIFIED = [
  '图书馆的开放时间为每天上午八点到晚上十点，节假日除外。',
  '学生借书一次最多二十册，借期三十天；逾期每册每天罚款一角。',
  '报销差旅费请先在系统中填写申请表，再把发票交给财务处。',
  '“校园卡”遗失后，请立即到服务大厅挂失（电话：8001）。',
];
const TRADITIONAL = [
  '圖書館的開放時間為每天上午八點到晚上十點，節假日除外。',
  '學生借書一次最多二十冊，借期三十天；逾期每冊每天罰款一角。',
  '報銷差旅費請先在系統中填寫申請表，再把發票交給財務處。',
  '「校園卡」遺失後，請立即到服務大廳掛失（電話：8001）。',
];
const WESTERN = [
  'café',
  'Über uns',
  'Größe',
  'Le café est fermé à midi',
  'señor',
  'déjà vu à Noël',
  'Straße 5, Köln',
  'EDUCAÇÃO',
  'AÇÕES',
  'Müßiggänger',
  'créée',
  'MAÇÃ',
  'Äpfel',
  'Ämter',
  'Âge',
  'NÃO',
];

/** The two bytes of each character in an encoding that Node can only decode. */
function encoderOf(encoding: string): (text: string) => Buffer {
  const decoder = new TextDecoder(encoding);
  const pairs = new Map<string, number[]>();
  for (let lead = 0x81; lead <= 0xfe; lead += 1)
    for (let trail = 0x40; trail <= 0xfe; trail += 1) {
      const letter = decoder.decode(Uint8Array.of(lead, trail));
      if (letter.length === 1 && letter !== '\ufffd' && !pairs.has(letter)) pairs.set(letter, [lead, trail]);
    }
  return (text) => Buffer.from([...text].flatMap((letter) => pairs.get(letter) ?? [letter.charCodeAt(0)]));
}

/** All parts of the given length, and the whole text. */
function partsOf(text: string, length: number): string[] {
  const parts = Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length));
  return parts.filter((part) => (part.match(/\p{Script=Han}/gu)?.length ?? 0) >= length / 2);
}

describe('the encoding of a Chinese text', () => {
  const gb18030 = encoderOf('gb18030');
  const big5 = encoderOf('big5');

  test.each([
    ['simplified', 'GB18030', SIMPLIFIED, gb18030],
    ['traditional', 'GB18030', TRADITIONAL, gb18030],
    ['traditional', 'Big5', TRADITIONAL, big5],
  ] as const)('%s characters in %s are detected in short, medium and long texts', (_, __, sentences, encode) => {
    const texts = [6, 10, 16].flatMap((length) => sentences.flatMap((sentence) => partsOf(sentence, length)));
    const wrong = [...texts, ...sentences, sentences.join('\n').repeat(500)].filter(
      (text) => decodeText(encode(text)) !== text,
    );
    expect(wrong.map((text) => text.slice(0, 50))).toEqual([]);
  });

  test.each([
    ['请用WiFi连接VPN后访问OA系统', 'GB18030', gb18030],
    ['WiFi密码：abc123', 'GB18030', gb18030],
    ['A类、B类、C类', 'GB18030', gb18030],
    ['用U盘拷贝', 'GB18030', gb18030],
    ['請用WiFi連接VPN後訪問OA系統', 'Big5', big5],
    ['SSO登入失敗時，請聯絡IT服務台', 'Big5', big5],
  ])('is detected beside Latin letters without spaces: %s', (text, _encoding, encode) => {
    expect(decodeText(encode(text))).toBe(text);
  });

  test.each([
    ['GB18030', gb18030],
    ['Big5', big5],
    ['UTF-8', (text: string) => Buffer.from(text)],
  ])('%s is detected if the last character is cut, and behind a long ASCII text', (_encoding, encode) => {
    const text = `${'plain\n'.repeat(20_000)}${TRADITIONAL.join('\n')}`;
    const bytes = encode(text);
    expect(decodeText(bytes.subarray(0, -1))).toBe(`${text.slice(0, -1)}\ufffd`);
  });

  test('UTF-8 is detected despite a damaged character', () => {
    const [first, ...others] = SIMPLIFIED;
    const damaged = Buffer.concat([Buffer.from(`${first}\n`), Buffer.from([0xe5]), Buffer.from(others.join('\n'))]);
    expect(decodeText(damaged)).toBe(`${first}\n\ufffd${others.join('\n')}`);
  });

  test('Western European text behind a long ASCII text is not taken for damaged UTF-8', () => {
    const text = `${'plain\n'.repeat(20_000)}café`;
    expect(decodeText(Buffer.from(text, 'latin1'))).toBe(text);
  });

  test('Windows-1252 keeps quotation marks, dashes, ellipses and the euro sign', () => {
    expect(decodeText(Buffer.from('934e6f94209620353085208080', 'hex'))).toBe('“No” – 50… €€');
  });

  test('text in a Western European encoding is not taken for Chinese', () => {
    expect(WESTERN.map((text) => decodeText(Buffer.from(text, 'latin1')))).toEqual(WESTERN);
  });
});
