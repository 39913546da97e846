import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { MIB_BYTES } from '../../../../shared/clock.ts';

/** The memory of the PDFium instance. */
interface Memory {
  HEAPU8: Uint8Array;
  getValue(at: number, type: 'double' | 'float'): number;
  wasmExports: { malloc(bytes: number): number; free(at: number): void };
}

export type Pdfium = Omit<WrappedPdfiumModule, 'pdfium'> & { pdfium: Memory };

/** The imports of a WebAssembly module. */
type Imports = Record<string, Record<string, unknown>>;

/** The part of the `WebAssembly` global that is used here. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: Imports) => { exports: unknown };
}

/** Enough for the largest file and the work of reading it. The process needs another 55 MB (SECURITY.md read-apart). */
const MAX_MEMORY_BYTES = 64 * MIB_BYTES;

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
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  const pdfium = await init({
    instantiateWasm: (imports: Imports, receive: (instance: object) => void) => {
      limitMemory(imports);
      const instance = new Instance(new Module(wasmBinary), imports);
      receive(instance);
      return instance.exports;
    },
    print: () => undefined,
    printErr: () => undefined,
  });
  pdfium.PDFiumExt_Init();
  return pdfium as unknown as Pdfium;
}

/** Makes memory growth fail above the limit. */
function limitMemory({ env }: Imports): void {
  const grow = env?.['emscripten_resize_heap'] as (bytes: number) => boolean;
  if (env) env['emscripten_resize_heap'] = (bytes: number) => bytes >>> 0 <= MAX_MEMORY_BYTES && grow(bytes);
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
