/** Header data of an image, read before decoding. */
export interface ImageHeader {
  width: number;
  height: number;
  /** Memory that the decoder must hold at once besides a few rows; 0 if it decodes row by row. */
  unpackedBytes: number;
  /** The image without data that its first frame does not need: long texts, colour profiles, later frames, trailing data. */
  lean: Buffer;
}
