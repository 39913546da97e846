import sharp, { type Sharp } from 'sharp';

/** A picture of noise, which compresses badly, like a photograph. @param sigma strength of the noise */
export function noisePicture(
  width: number,
  height: number,
  { sigma = 60, channels = 3 }: { sigma?: number; channels?: 3 | 4 } = {},
): Sharp {
  const noise = { type: 'gaussian' as const, mean: 128, sigma };
  return sharp({ create: { width, height, channels, background: '#808080', noise } });
}
