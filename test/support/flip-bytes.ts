import fc from 'fast-check';

interface Flip {
  at: number;
  byte: number;
  kind: 'change' | 'insert' | 'cut' | 'repeat';
}
/** A few changes to well-formed bytes. */
export const flips = fc.array(
  fc.record<Flip>({
    at: fc.nat(),
    byte: fc.nat(255),
    kind: fc.constantFrom('change', 'insert', 'cut', 'repeat'),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Applies one change; use `changes.reduce(flip, bytes)` for several. */
export function flip(bytes: Buffer, { at, byte, kind }: Flip): Buffer {
  const place = at % (bytes.length + 1);
  const [head, tail] = [bytes.subarray(0, place), bytes.subarray(place)];
  switch (kind) {
    case 'change':
      return Buffer.concat([head, Buffer.from([byte]), tail.subarray(1)]);
    case 'insert':
      return Buffer.concat([head, Buffer.from([byte]), tail]);
    case 'cut':
      return Buffer.concat([head, tail.subarray(byte)]);
    case 'repeat':
      return Buffer.concat([head, ...Array.from({ length: 3 }, () => tail.subarray(0, byte)), tail]);
  }
}
