import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { MIB_BYTES } from '../../../../shared/clock.ts';

/** The memory of the reader, in which it is given what it reads. */
interface Memory {
  HEAPU8: Uint8Array;
  getValue(at: number, type: 'double'): number;
  wasmExports: { malloc(bytes: number): number; free(at: number): void };
}

export type Pdfium = Omit<WrappedPdfiumModule, 'pdfium'> & { pdfium: Memory };

/** What is brought to a compiled program from outside. */
type Imports = Record<string, Record<string, unknown>>;

/** Of the global of that name as much as is used here. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: Imports) => { exports: unknown };
}

/** The largest file with what it takes to read it; beside it the process needs 55 MB (SECURITY.md read-apart). */
const MOST_MEMORY_BYTES = 64 * MIB_BYTES;

let opened: Promise<Pdfium> | undefined;

/**
 * The PDF reader of Chromium, compiled to WebAssembly: it reaches nothing but the memory that it is given, of which there is an
 * end, and it has neither a script engine nor a way out.
 */
export function openPdfium(): Promise<Pdfium> {
  return (opened ??= start());
}

/** After a fault its memory is in disorder: the next document gets a new one. */
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

/** Whoever asks for more is told that there is none. */
function limitMemory({ env }: Imports): void {
  const grow = env?.['emscripten_resize_heap'] as (bytes: number) => boolean;
  if (env) env['emscripten_resize_heap'] = (bytes: number) => bytes >>> 0 <= MOST_MEMORY_BYTES && grow(bytes);
}
