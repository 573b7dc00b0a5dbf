import { readFile } from 'node:fs/promises'
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'

/**
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSWASMModule} Instance
 * @typedef {import('quickjs-emscripten').QuickJSHandle} Handle
 * @typedef {{ kit: Handle, fetchKit: Handle, probe: () => void }} Furniture the preludes in a new context
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
const SEED_BYTES = 8
// prints nothing: an abort would otherwise write to the service's console
const SILENT = /** @type {object} */ ({ print() {}, printErr() {} })

/** Compiles the WASM file, for this worker and later ones; the library knows its path. */
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
 * @param {WebAssembly.Module} engine
 * @param {number} memoryMb the maximum for a script
 */
export async function newInstance(engine, memoryMb) {
  const pages = Math.ceil(((memoryMb + SPARE_MIB) * MIB) / PAGE)
  const memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: Math.min(pages, LAST_PAGE) })
  const wasmModule = async () => engine
  const variant = newVariant(RELEASE_SYNC, { wasmModule, wasmMemory: memory, emscriptenModule: SILENT })
  return { instance: await newQuickJSWASMModuleFromVariant(variant), memory }
}

/**
 * A WASM instance with one context, furnished once. After every script its whole memory is restored, byte for byte, to
 * its state before any script ran. That takes a quarter of the time of making and furnishing a context, and leaks just
 * as little, because a script reaches only this memory.
 *
 * Outside the memory, the engine has its stack pointer and the host functions. A probe uses both after each reset: had
 * they changed, it would leave other bytes than at first, and the instance is discarded. So is one whose memory has
 * grown, because memory cannot shrink.
 *
 * Only the seed of `Math.random` must differ from script to script, so it is renewed.
 *
 * Instances are dropped, never disposed of: disposing of a runtime whose script ran out of stack or memory may abort.
 */
export class Machine {
  #instance
  #memory
  #memoryMb
  #pages
  /** The memory of the furnished context. */
  #ready
  /** The memory after the probe. */
  #probed
  #seed
  #isLate = () => false
  context
  furniture

  /**
   * @param {Instance} instance
   * @param {WebAssembly.Memory} memory
   * @param {number} memoryMb
   * @param {(context: Context) => Furniture} furnish does the same each time
   */
  constructor(instance, memory, memoryMb, furnish) {
    this.#instance = instance
    this.#memory = memory
    this.#memoryMb = memoryMb
    this.#pages = viewPages(memory)
    const pristine = copyPages(this.#pages)
    furnish(this.#newContext())
    const earlier = copyPages(this.#pages)
    nextMillisecond()
    writePages(this.#pages, pristine)
    this.context = this.#newContext()
    this.furniture = furnish(this.context)
    this.#ready = copyPages(this.#pages)
    this.#seed = findSeed(memory, earlier, this.#ready)
    this.furniture.probe()
    this.#probed = copyPages(this.#pages)
    this.#newSeed()
  }

  get bytes() {
    return this.#memory.buffer.byteLength
  }

  /** Whether scripts have allocated about all the memory they may use. */
  get isFull() {
    return this.bytes > Math.max(0.9 * this.#memoryMb * MIB, FIRST_PAGES * PAGE)
  }

  /** Restores the context to its state before any script ran. False if this instance cannot be used again. */
  reset() {
    this.#isLate = () => false
    if (this.bytes > FIRST_PAGES * PAGE) return false
    writePages(this.#pages, this.#ready)
    try {
      this.furniture.probe()
    } catch {
      return false
    }
    if (!holdPages(this.#pages, this.#probed)) return false
    this.#newSeed()
    return true
  }

  /** @param {() => boolean} isLate polled while a script runs; true ends it */
  set interrupt(isLate) {
    this.#isLate = isLate
  }

  #newContext() {
    const runtime = this.#instance.newRuntime({
      memoryLimitBytes: this.#memoryMb * MIB,
      maxStackSizeBytes: STACK_BYTES,
      interruptHandler: () => this.#isLate(),
    })
    return runtime.newContext()
  }

  #newSeed() {
    crypto.getRandomValues(this.#seed)
    // zero would stay zero forever
    if (this.#seed.every((byte) => byte === 0)) this.#newSeed()
  }
}

/** The engine seeds `Math.random` with the time in milliseconds. */
function nextMillisecond() {
  const before = Date.now()
  while (Date.now() === before);
}

/**
 * Where the engine keeps the state of `Math.random`: the only eight bytes that differ between two contexts made alike at
 * different times.
 *
 * @param {WebAssembly.Memory} memory
 * @param {Buffer[]} earlier
 * @param {Buffer[]} later
 */
function findSeed({ buffer }, earlier, later) {
  const places = []
  for (const [i, page] of later.entries()) {
    const before = earlier[i] ?? ZEROS
    if (page === before) continue
    const [was, is] = [words(before), words(page)]
    for (let at = 0; at < is.length; at++) if (is[at] !== was[at]) places.push(i * PAGE + at * SEED_BYTES)
  }
  const [place] = places
  if (place === undefined || places.length > 1) throw new Error('the engine keeps its random state somewhere else')
  return new Uint8Array(buffer, place, SEED_BYTES)
}

/** @param {Buffer} page */
function words({ buffer, byteOffset }) {
  return new BigUint64Array(buffer, byteOffset, PAGE / SEED_BYTES)
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
 * Restores the pages, byte for byte. Compares first: almost all are empty, and only reading an empty page costs no
 * memory.
 *
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
