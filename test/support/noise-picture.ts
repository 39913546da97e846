import sharp, { type Sharp } from 'sharp';

/** A picture of noise, which no way of writing it makes small; as a photograph may be. @param sigma how strong the noise is */
export function noisePicture(
  width: number,
  height: number,
  { sigma = 60, channels = 3 }: { sigma?: number; channels?: 3 | 4 } = {},
): Sharp {
  const noise = { type: 'gaussian' as const, mean: 128, sigma };
  return sharp({ create: { width, height, channels, background: '#808080', noise } });
}
