import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector gets it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentId: string;
  name: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** Attributes of the process. */
  resource: Record<string, unknown>;
}

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** All bodies as they were received. */
  bytes(): Buffer;
  /** Value of a header in each request. */
  headers(name: string): (string | undefined)[];
  stop(): Promise<void>;
}

/**
 * A collector: receives OTLP/HTTP and reads its protobuf messages (opentelemetry-proto, trace.proto).
 * @param status of its answers; `silent`: it gives none
 */
export async function startOtlpReceiver(status: number | 'silent' = 200): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: Buffer[] = [];
  const heads: Record<string, string | string[] | undefined>[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      heads.push(request.headers);
      if (request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf') {
        bodies.push(body);
        spans.push(...readExport(body));
      }
      if (status !== 'silent') response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bytes: () => Buffer.concat(bodies),
    headers: (name) => heads.map((head) => head[name]?.toString()),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The fields of a protobuf message by number, each with all of its values. */
type Fields = Map<number, (Buffer | bigint)[]>;

function readExport(body: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).map((one) => attributesOf(one, 1))[0] ?? {};
    return messages(resourceSpans, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => ({ ...readSpan(span), resource }));
  });
}

function readSpan(span: Fields): Omit<ReceivedSpan, 'resource'> {
  return {
    traceId: bytesOf(span, 1).toString('hex'),
    spanId: bytesOf(span, 2).toString('hex'),
    parentId: bytesOf(span, 4).toString('hex'),
    name: bytesOf(span, 5).toString(),
    startMs: Number(numberOf(span, 7) / 1000n) / 1e3,
    endMs: Number(numberOf(span, 8) / 1000n) / 1e3,
    attributes: attributesOf(span, 9),
    links: messages(span, 13).map((link) => ({
      traceId: bytesOf(link, 1).toString('hex'),
      spanId: bytesOf(link, 2).toString('hex'),
    })),
    isError: messages(span, 15).some((one) => numberOf(one, 3) === 2n),
  };
}

function attributesOf(fields: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(fields, field).map((pair) => [bytesOf(pair, 1).toString(), valueOf(messages(pair, 2)[0] ?? new Map())]),
  );
}

function valueOf(value: Fields): unknown {
  const [kind] = [...value.keys()];
  if (kind === 1) return bytesOf(value, 1).toString();
  if (kind === 2) return numberOf(value, 2) === 1n;
  if (kind === 4) return bytesOf(value, 4).readDoubleLE();
  if (kind === 5) return messages(messages(value, 5)[0] ?? new Map(), 1).map(valueOf);
  return Number(numberOf(value, 3));
}

function messages(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).map((value) => fieldsOf(value as Buffer));
}

function bytesOf(fields: Fields, field: number): Buffer {
  return (fields.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

function numberOf(fields: Fields, field: number): bigint {
  const value = fields.get(field)?.[0] ?? 0n;
  return typeof value === 'bigint' ? value : value.readBigUInt64LE();
}

function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number) => {
    const value = message.subarray(at, at + length);
    at += length;
    return value;
  };
  while (at < message.length) {
    const tag = Number(varint());
    const type = tag & 7;
    const value = type === 0 ? varint() : bytes(type === 1 ? 8 : type === 5 ? 4 : Number(varint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}
