import type { z } from 'zod';
import { optional, secret } from '../../config/setting.ts';
import * as kinds from '../../config/setting-kinds.ts';
import type { AssembleOptions, PlatformDescription } from '../description.ts';

const settings = {
  PIGEON_SECRET: secret(kinds.textLike(/^[\x21-\x7e]{16,128}$/, "must be Pigeon's signing secret"), {
    meaning: 'The secret by which Pigeon signs what it sends, and knows us.',
  }),
  PIGEON_API_URL: optional(kinds.webAddress, {
    meaning: "Address of Pigeon's interface.",
    default: 'https://api.pigeon.example',
    example: 'https://api.pigeon.example',
  }),
};

type Own = z.output<z.ZodObject<typeof settings>>;

export const pigeon = {
  name: 'pigeon',
  label: { en: 'Pigeon', zh: '信鸽' },
  settings,
  secrets: { pigeonSecret: 'PIGEON_SECRET' },
  credentials: ['PIGEON_SECRET'],
  signs: 'PIGEON_SECRET',
  consoleLine: (webhookUrl: string) => `Save in Pigeon as the address of the bot: ${webhookUrl}`,
  assemble: ({ settings: own }: AssembleOptions<Own>) => ({
    apiUrl: own.PIGEON_API_URL ?? 'https://api.pigeon.example',
  }),
} as const satisfies PlatformDescription;
