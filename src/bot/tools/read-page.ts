import { z } from 'zod';
import { localize, type Bilingual } from '../../shared/text/texts.ts';
import { decodePage } from '../../shared/web/decode-page.ts';
import { isHostOrRange, denyEgressTo } from '../../shared/web/denied-hosts.ts';
import type { EgressPolicy } from '../../shared/web/egress-policy.ts';
import { fetchPage, type FetchedPage, type FetchLimits } from '../../shared/web/fetch-page.ts';
import { WebError } from '../../shared/web/web-error.ts';
import { readableText } from './page/readable-text.ts';
import { ToolError } from './tool-error.ts';
import { defineTool, type Tool, type ToolModule } from './tool.ts';

/** Hosts (including their subdomains) and IP ranges that the tool must never reach. */
const neverSchema = z.array(
  z.string().refine(isHostOrRange, {
    message: 'Expected a host such as intranet.example.edu, or a range such as 192.0.2.0/24',
  }),
);

export const readPage: ToolModule = {
  name: 'read_page',
  fields: { never: { schema: neverSchema, elsewhere: 'Only read_page opens pages' } },
  create: ({ egress, own }) => createReadPage(denyEgressTo(egress, neverSchema.parse(own['never'] ?? []))),
};

const STATUS: Bilingual = { en: 'Reading {host} …', zh: '正在阅读 {host} ……' };

const schema = z.strictObject({
  address: z.string().min(1).max(2_000).describe('The https address of the page, exactly as it was given.'),
});

/**
 * Reads the text of a page (SECURITY.md egress-checked). @param egress allowed destinations; `PUBLIC_WEB` except in tests
 */
export function createReadPage(egress: EgressPolicy, limits?: FetchLimits): Tool {
  return defineTool({
    name: readPage.name,
    description:
      'Reads the text of a public web page. Takes only addresses that somebody wrote in this conversation or that another tool found.',
    schema,
    findsAddresses: true,
    status: ({ address }, { language }) => localize(STATUS, language, { host: hostOf(address) }),
    async run({ address }, { isNamed }, signal) {
      if (!isNamed(address))
        throw new ToolError('refused', 'Nobody wrote this address here, and no tool found it, so it is not opened.');
      const page = await fetchPage(address, { egress, limits }, signal).catch(refuse);
      const text = decodePage(page);
      const readable = page.mediaType === 'text/plain' ? { title: '', text } : await readableText(text, signal);
      return [
        `Address: ${page.url.href}`,
        ...(readable.title === '' ? [] : [`Title: ${readable.title}`]),
        '',
        readable.text,
      ].join('\n');
    },
  });
}

/** @throws ToolError, whose message the model reads */
function refuse(error: unknown): FetchedPage {
  if (!(error instanceof WebError)) throw error;
  throw new ToolError(error.code === 'too_large' ? 'unusable' : error.code, error.message);
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : '';
}
