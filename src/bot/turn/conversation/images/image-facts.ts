/** What an image's header says, before anything is unpacked. */
export interface ImageHeader {
  width: number;
  height: number;
  /** What its decoder must hold at once, beside a few rows: 0 where it comes row by row. */
  unpackedBytes: number;
  /** The image without what is not needed for its first picture: long texts, colour profiles, later frames, what follows its end. */
  lean: Buffer;
}
