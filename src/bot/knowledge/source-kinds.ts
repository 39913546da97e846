import { z } from 'zod';
import { HOUR_MS, SECOND_MS } from '../../shared/clock.ts';
import { listOf } from '../policy/subject.ts';
import { readersSchema, type Readers } from './readers.ts';

/** Fields of every source. */
interface SourceCommon {
  /** The name in search results, scenes and the log. */
  name: string;
  /** Who may read documents that have no `readers` themselves. `nobody` if the file names none. */
  readers: Readers;
}

/** A local folder of documents, including sub-folders. */
export interface FolderDefinition extends SourceCommon {
  kind: 'folder';
  /** Absolute path. */
  folder: string;
  /** Base URL of the documents, to which their path is appended. Ends in `/`. */
  url?: string;
}

/** A retrieval service that implements Dify's External Knowledge API. */
export interface DifyDefinition extends SourceCommon {
  kind: 'dify';
  /** As configured. */
  address: string;
  knowledgeId: string;
  /** Absolute path of the file with the bearer token. */
  keyFile?: string;
  /** Sent as `metadata_condition`, unchanged. */
  condition?: Readonly<Record<string, unknown>>;
}

/** The pages of a website, as listed in its sitemap. */
export interface SitemapDefinition extends SourceCommon {
  kind: 'sitemap';
  /** Normalized address of the sitemap. */
  sitemap: string;
  /** URL prefixes of the pages. Each ends in `/`. */
  under: readonly string[];
  mostPages: number;
  /** From the end of one crawl to the start of the next. */
  everyMs: number;
  /** Delay between two requests. */
  pauseMs: number;
}

/** A source in `KNOWLEDGE_FILE`. */
export type SourceDefinition = FolderDefinition | DifyDefinition | SitemapDefinition;

/** A kind of source: its identifying field and its schema. */
export interface SourceKind {
  field: string;
  /** @param atPath resolves a path relative to the file */
  schema(atPath: (written: string) => string): z.ZodType<SourceDefinition>;
}

const MAX_NAME_CHARS = 80;

const common = {
  name: z.string().trim().min(1).max(MAX_NAME_CHARS),
  readers: readersSchema.default('nobody'),
};

const baseAddress = z
  .string()
  .refine((given) => isWebAddress(given), 'Must be an https or http address without user, query or fragment')
  .transform((given) => new URL(given).href.replace(/(?<!\/)\/*$/, '/'));

const folder: SourceKind = {
  field: 'folder',
  schema: (atPath) =>
    z
      .strictObject({ ...common, folder: z.string().min(1).transform(atPath), url: baseAddress.optional() })
      .transform((given) => ({ kind: 'folder' as const, ...given })),
};

const serviceAddress = z.string().refine(isServiceAddress, {
  message: 'Must be an https address (http only on this machine) without user or fragment',
});

/** Operators of the Dify API. Values are not restricted. */
const condition = z.strictObject({
  logical_operator: z.enum(['and', 'or']).optional(),
  conditions: listOf(
    z.strictObject({
      name: z.union([z.string(), z.array(z.string())]),
      comparison_operator: z.string().min(1),
      value: z.unknown().optional(),
    }),
  ),
});

const dify: SourceKind = {
  field: 'dify',
  schema: (atPath) =>
    z
      .strictObject({
        ...common,
        dify: serviceAddress,
        knowledgeId: z.string().min(1),
        keyFile: z.string().min(1).transform(atPath).optional(),
        condition: condition.optional(),
      })
      .transform(({ dify: address, ...given }) => ({ kind: 'dify' as const, address, ...given })),
};

const sitemapAddress = z.string().refine((given) => isWebAddress(given, { mayAsk: true }), {
  message: 'Must be an https or http address without user or fragment',
});
const MAX_PREFIXES = 50;

const sitemap: SourceKind = {
  field: 'sitemap',
  schema: () =>
    z
      .strictObject({
        ...common,
        sitemap: sitemapAddress.transform((given) => new URL(given).href),
        under: listOf(baseAddress).max(MAX_PREFIXES).optional(),
        mostPages: z.int().min(1).max(20_000).default(5_000),
        everyHours: z.number().min(1).max(168).default(24),
        pauseSec: z.number().min(0.05).max(60).default(1),
      })
      .transform(({ everyHours, pauseSec, under, ...given }) => ({
        kind: 'sitemap' as const,
        ...given,
        under: under ?? [new URL('/', given.sitemap).href],
        everyMs: everyHours * HOUR_MS,
        pauseMs: pauseSec * SECOND_MS,
      })),
};

export const SOURCE_KINDS: readonly SourceKind[] = [
  folder, //
  dify,
  sitemap,
];

function isServiceAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, hostname, username, password, hash } = new URL(given);
  const isHere = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
  return (
    (protocol === 'https:' || (protocol === 'http:' && isHere)) &&
    [username, password, hash].every((part) => part === '')
  );
}

function isWebAddress(given: string, { mayAsk = false } = {}): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password, search, hash } = new URL(given);
  const unwanted = [username, password, hash, ...(mayAsk ? [] : [search])];
  return /^https?:$/.test(protocol) && unwanted.every((part) => part === '');
}
