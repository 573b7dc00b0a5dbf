import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'
import { PRELUDE } from './prelude.mjs'
import { printable, returned, SCRIPT_FILE, thrown } from './report.mjs'

/**
 * Runs one script at a time, each in a WASM module, runtime and context of its own, so nothing of one
 * script (or of one tenant) is there for the next. Modules are dropped, not disposed: disposing a runtime
 * whose script exhausted stack or memory may abort, and the garbage collector frees the memory all the same.
 *
 * Plain JavaScript, since it is started by a bare Node without any loader.
 *
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSHandle} Handle
 * @typedef {import('./protocol').Ending} Ending
 * @typedef {import('./protocol').LogLine} LogLine
 * @typedef {import('./protocol').WorkerMessage} WorkerMessage
 * @typedef {import('./protocol').WorkerRequest} WorkerRequest
 * @typedef {{ deadline: number, interrupted: boolean }} Clock
 */

const MIB = 1024 * 1024
const PAGE = 64 * 1024
// the prebuilt module asks for 16 MiB at its start, of which it touches little
const FIRST_PAGES = 256
const LAST_PAGE = 32_768
// a script that made its memory grow past this costs its worker, which gives the memory back at once
const KEPT_BYTES = 32 * MIB
const STACK_BYTES = 256 * 1024
const MAX_LINES = 100
const MAX_LOG_CHARS = 16 * 1024
const JOBS_PER_SLICE = 1000
// prints go nowhere: an abort would otherwise write to the console of the service
const SILENT = /** @type {object} */ ({ print() {}, printErr() {} })

/** @type {WorkerRequest} */
const WARM_UP = { code: 'await null; return args', input: '[{}]', timeoutMs: 5000, memoryMb: 16, maxOutputBytes: 9 }

const port = parentPort
if (!port) throw new Error('worker.mjs is started as a worker thread')

/** @type {WebAssembly.Module} */
const engine = workerData.engine ?? (await loadEngine())
// the first run compiles what every run needs; nobody should wait for that
await run(WARM_UP)
port.on('message', (request) => void serve(request))
send({ type: 'ready', engine })

/** @param {WorkerMessage} message */
function send(message) {
  port?.postMessage(message)
}

/** Compiles the WASM file, for this worker and those after it; the library itself tells where the file lies. */
async function loadEngine() {
  let file = ''
  const locateFile = (/** @type {string} */ name, /** @type {string} */ folder) => {
    file = folder + name
    return file
  }
  await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { locateFile, emscriptenModule: SILENT }))
  return WebAssembly.compile(await readFile(/* turbopackIgnore: true */ file))
}

/** @param {WorkerRequest} request */
async function serve(request) {
  send({ type: 'done', ...(await run(request)) })
}

/**
 * @param {WorkerRequest} request
 * @returns {Promise<{ ending: Ending, spent: boolean }>}
 */
async function run(request) {
  const clock = { deadline: performance.now() + request.timeoutMs, interrupted: false }
  const pages = Math.ceil((request.memoryMb * MIB) / PAGE)
  const maximum = Math.min(Math.max(pages, FIRST_PAGES), LAST_PAGE)
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum })
  const variant = newVariant(RELEASE_SYNC, { wasmModule: async () => engine, wasmMemory, emscriptenModule: SILENT })
  const module = await newQuickJSWASMModuleFromVariant(variant)
  const runtime = module.newRuntime({
    memoryLimitBytes: request.memoryMb * MIB,
    maxStackSizeBytes: STACK_BYTES,
    interruptHandler: () => isLate(clock),
  })

  /** @type {Ending} */
  let ending
  let broken = false
  try {
    ending = execute(runtime.newContext(), request, clock)
  } catch {
    // the engine itself gave up (aborted, or ran out of the thread's own stack)
    broken = true
    ending = failure('EXECUTION_ERROR', 'The script broke its sandbox by exhausting memory or stack')
  }
  let spent = broken || clock.interrupted || wasmMemory.buffer.byteLength > KEPT_BYTES
  if (clock.interrupted) {
    ending = failure('TIMEOUT', `The script ran longer than ${request.timeoutMs} ms`)
  } else if (!ending.ok && ending.message === 'out of memory' && ending.details[0] === 'InternalError') {
    spent = true
    ending = { ...ending, message: `The script ran out of memory: it may use ${request.memoryMb} MiB` }
  }
  return { ending, spent }
}

/**
 * @param {Context} context
 * @param {WorkerRequest} request
 * @param {Clock} clock
 * @returns {Ending}
 */
function execute(context, { code, input, maxOutputBytes }, clock) {
  const kit = loadPrelude(context)
  // A script that closes our function early only moves its own code: the VM around it stays the same.
  const compiled = context.evalCode(
    `(async function (args, dataContext, context, console) {\n${code}\n})`,
    SCRIPT_FILE,
    { type: 'global' },
  )
  if (compiled.error) return thrown(kit.describe(compiled.error), code, false)

  const promise = kit.start(compiled.value, context.newString(input))
  if (promise.error) return thrown(kit.describe(promise.error), code, true)

  let state = context.getPromiseState(promise.value)
  while (state.type === 'pending') {
    if (isLate(clock)) return failure('TIMEOUT', '')
    if (!context.runtime.hasPendingJob()) {
      return failure('EXECUTION_ERROR', 'The script awaits something that never settles')
    }
    const jobs = context.runtime.executePendingJobs(JOBS_PER_SLICE)
    if (jobs.error) return thrown(kit.describe(jobs.error), code, true)
    state = context.getPromiseState(promise.value)
  }
  if (state.type === 'rejected') return thrown(kit.describe(state.error), code, true)

  const finished = kit.finish(state.value, context.newNumber(maxOutputBytes))
  if (finished.error) return thrown(kit.describe(finished.error), code, true)
  return returned(context.getString(finished.value), maxOutputBytes)
}

/** @param {Context} context */
function loadPrelude(context) {
  const make = present(context.evalCode(PRELUDE, 'sandbox.js', { type: 'global' }))
  const emit = context.newFunction('emit', logger(context))
  const kit = present(context.callFunction(make, context.undefined, emit, context.newNumber(MAX_LOG_CHARS)))
  const method = (/** @type {string} */ name) => {
    const handle = context.getProp(kit, name)
    return (/** @type {Handle[]} */ ...args) => context.callFunction(handle, context.undefined, ...args)
  }
  const describe = method('describe')
  return {
    start: method('start'),
    finish: method('finish'),
    /** @param {Handle} error */
    describe: (error) => context.getString(present(describe(error))),
  }
}

/**
 * The one host function a script can reach, through `console`. It must not throw: an error would carry this
 * file's stack into the VM.
 *
 * @param {Context} context
 */
function logger(context) {
  let lines = 0
  let room = MAX_LOG_CHARS
  return (/** @type {Handle} */ level, /** @type {Handle} */ json) => {
    try {
      if (lines > MAX_LINES) return context.false
      const text = printable(JSON.parse(context.getString(json)))
      lines++
      if (lines > MAX_LINES || text.length > room) {
        lines = MAX_LINES + 1
        const kept = `${text.slice(0, room)}\n[further output is not kept]`
        send({ type: 'log', line: { level: 'warn', text: kept.trimStart(), truncated: true } })
        return context.false
      }
      room -= text.length
      send({ type: 'log', line: { level: asLevel(context.getString(level)), text } })
      return context.true
    } catch {
      return context.false
    }
  }
}

/**
 * @param {string} level
 * @returns {LogLine['level']}
 */
function asLevel(level) {
  return level === 'debug' || level === 'info' || level === 'warn' || level === 'error' ? level : 'log'
}

/**
 * Not the library's `unwrapResult`, which would copy the error out object by object.
 *
 * @param {ReturnType<Context['callFunction']>} result
 */
function present(result) {
  if (result.error) throw new Error('the prelude failed')
  return result.value
}

/** @param {Clock} clock */
function isLate(clock) {
  clock.interrupted ||= performance.now() > clock.deadline
  return clock.interrupted
}

/**
 * @param {'EXECUTION_ERROR' | 'TIMEOUT'} code
 * @param {string} message
 * @returns {Ending}
 */
function failure(code, message) {
  return { ok: false, code, message, details: [] }
}
