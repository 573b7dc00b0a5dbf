import { readFile } from 'node:fs/promises'
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'

/**
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSWASMModule} Instance
 */

const MIB = 1024 * 1024
const PAGE = 64 * 1024
// the prebuilt module asks for 16 MiB at start and touches little of it
const FIRST_PAGES = 256
const LAST_PAGE = 32_768
// in addition to the script's memory: the engine's own stack, and room to report that memory ran out
const SPARE_MIB = 16
const STACK_BYTES = 256 * 1024
const ZEROS = Buffer.alloc(PAGE)
// prints nothing: an abort would otherwise write to the service's console
const SILENT = /** @type {object} */ ({ print() {}, printErr() {} })

/** Compiles the WASM file, for this worker and later ones; the library knows where the file is. */
export async function compileEngine() {
  let file = ''
  const locateFile = (/** @type {string} */ name, /** @type {string} */ folder) => {
    file = folder + name
    return file
  }
  await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { locateFile, emscriptenModule: SILENT }))
  return WebAssembly.compile(await readFile(/* turbopackIgnore: true */ file))
}

/**
 * A WASM instance that makes one VM after the other, each in memory reset to what it was before the first. Resetting
 * and checking all of it takes a tenth of the time of a new instance and leaks just as little, because a script reaches
 * nothing but this memory. The only engine variable outside it is the stack pointer; a runtime made with a different
 * one, or with anything else left behind, writes different bytes than the first runtime did. In that case the instance
 * is not used again, and neither when its memory has grown, because it cannot shrink.
 *
 * Instances are dropped, never disposed of: disposing of a runtime whose script ran out of stack or memory may abort.
 */
export class Machine {
  #instance
  #memory
  #pages
  #pristine
  /** The memory after a runtime was made. */
  #begun
  #isLate = () => false
  memoryMb

  /**
   * @param {Instance} instance
   * @param {WebAssembly.Memory} memory
   * @param {number} memoryMb
   */
  constructor(instance, memory, memoryMb) {
    this.#instance = instance
    this.#memory = memory
    this.memoryMb = memoryMb
    this.#pages = viewPages(memory)
    this.#pristine = copyPages(this.#pages)
    this.#newRuntime()
    this.#begun = copyPages(this.#pages)
    writePages(this.#pages, this.#pristine)
  }

  /**
   * @param {WebAssembly.Module} engine
   * @param {number} memoryMb what a script may use at most
   */
  static async start(engine, memoryMb) {
    const pages = Math.ceil(((memoryMb + SPARE_MIB) * MIB) / PAGE)
    const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: Math.min(pages, LAST_PAGE) })
    const wasmModule = async () => engine
    const variant = newVariant(RELEASE_SYNC, { wasmModule, wasmMemory: memory, emscriptenModule: SILENT })
    return new Machine(await newQuickJSWASMModuleFromVariant(variant), memory, memoryMb)
  }

  get bytes() {
    return this.#memory.buffer.byteLength
  }

  /** Whether scripts have allocated about all the memory they may use. */
  get isFull() {
    return this.bytes > Math.max(0.9 * this.memoryMb * MIB, FIRST_PAGES * PAGE)
  }

  /**
   * A context that has run nothing yet.
   *
   * @returns {Context | null} null when this instance cannot be used again
   */
  newContext() {
    this.#isLate = () => false
    if (this.bytes > FIRST_PAGES * PAGE) return null
    writePages(this.#pages, this.#pristine)
    const runtime = this.#newRuntime()
    return holdPages(this.#pages, this.#begun) ? runtime.newContext() : null
  }

  /** @param {() => boolean} isLate polled while a script runs; true ends it */
  set interrupt(isLate) {
    this.#isLate = isLate
  }

  #newRuntime() {
    return this.#instance.newRuntime({
      memoryLimitBytes: this.memoryMb * MIB,
      maxStackSizeBytes: STACK_BYTES,
      interruptHandler: () => this.#isLate(),
    })
  }
}

/** @param {WebAssembly.Memory} memory */
function viewPages({ buffer }) {
  return Array.from({ length: buffer.byteLength / PAGE }, (_, i) => Buffer.from(buffer, i * PAGE, PAGE))
}

/**
 * The current content of the pages; an empty page is `ZEROS` itself.
 *
 * @param {Buffer[]} pages
 */
function copyPages(pages) {
  return pages.map((page) => (page.equals(ZEROS) ? ZEROS : Buffer.from(page)))
}

/**
 * Restores the pages, byte for byte. Compares first: almost all are empty, and an empty page that is only read costs no
 * memory.
 *
 * @param {Buffer[]} pages
 * @param {Buffer[]} copy
 */
function writePages(pages, copy) {
  for (const [i, page] of pages.entries()) {
    const before = copy[i] ?? ZEROS
    if (!page.equals(before)) page.set(before)
  }
}

/**
 * Whether the pages that were not empty still have the same content.
 *
 * @param {Buffer[]} pages
 * @param {Buffer[]} copy
 */
function holdPages(pages, copy) {
  return copy.every((before, i) => before === ZEROS || pages[i]?.equals(before))
}
