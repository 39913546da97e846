import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { MIB_BYTES } from '../../../../shared/clock.ts';

/** The memory of the PDFium instance. */
interface Memory {
  HEAPU8: Uint8Array;
  getValue(at: number, type: 'double' | 'float' | 'i32'): number;
  wasmExports: { malloc(bytes: number): number; free(at: number): void };
}

export type Pdfium = Omit<WrappedPdfiumModule, 'pdfium'> & { pdfium: Memory };

type Imports = Record<string, Record<string, unknown>>;

/** A memory of a WebAssembly instance. */
interface WasmMemory {
  buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of the `WebAssembly` global that is used here. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: Imports) => { exports: Record<string, unknown> };
  Memory: new (limits: object) => WasmMemory;
}

/** A colour page at 200 dpi, decoded from JPEG 2000, takes 60 MiB. The process needs another 70 MB (SECURITY.md read-apart). */
const MAX_MEMORY_BYTES = 96 * MIB_BYTES;
/** PDFium itself, a page and its bitmap. */
const OWN_BYTES = 24 * MIB_BYTES;
const WASM_PAGE_BYTES = 65_536;

/** Memory for decoding the images of a page. @param fileBytes size of the PDF, which takes memory too */
export function bytesForImages(fileBytes: number): number {
  return MAX_MEMORY_BYTES - OWN_BYTES - fileBytes;
}

let opened: Promise<Pdfium> | undefined;

/**
 * Chromium's PDF library, compiled to WebAssembly. The module can access only its own memory, which is limited. It has no
 * script engine and no I/O.
 */
export function openPdfium(): Promise<Pdfium> {
  return (opened ??= start());
}

/** After a fault the instance's memory may be corrupt, so the next document gets a new instance. */
export function forgetPdfium(): void {
  opened = undefined;
}

async function start(): Promise<Pdfium> {
  const wasmBinary = readFileSync(createRequire(import.meta.url).resolve('@embedpdf/pdfium/pdfium.wasm'));
  const { Module, Instance, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  const pdfium = await init({
    instantiateWasm: (imports: Imports, receive: (instance: object) => void) => {
      const instance = new Instance(new Module(wasmBinary), imports);
      for (const exported of Object.values(instance.exports)) if (exported instanceof Memory) limitMemory(exported);
      receive(instance);
      return instance.exports;
    },
    print: () => undefined,
    printErr: () => undefined,
  });
  pdfium.PDFiumExt_Init();
  return pdfium as unknown as Pdfium;
}

/** Makes memory growth fail above the limit. PDFium requests more than it needs, and then less if that fails. */
function limitMemory(memory: WasmMemory): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * WASM_PAGE_BYTES > MAX_MEMORY_BYTES) throw new RangeError('Out of memory');
    return grow(pages);
  };
}

/**
 * Reads a UTF-16 string.
 * @param read writes the string to the memory and returns its bytes with the final zero; only returns them if they do not fit
 * @returns an empty string if it is longer
 */
export function readWideText(pdfium: Pdfium, maxChars: number, read: (at: number, bytes: number) => number): string {
  const bytes = read(0, 0);
  if (bytes <= 2 || bytes > (maxChars + 1) * 2) return '';
  const memory = pdfium.pdfium.wasmExports;
  const at = memory.malloc(bytes);
  const written = read(at, bytes);
  const text = Buffer.from(pdfium.pdfium.HEAPU8.subarray(at, at + Math.min(written, bytes) - 2)).toString('utf16le');
  memory.free(at);
  return text;
}
