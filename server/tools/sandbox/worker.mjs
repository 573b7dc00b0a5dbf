import { readFile } from 'node:fs/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'
import { Mailbox } from './mailbox.mjs'
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
 * @typedef {import('./protocol').HostMessage} HostMessage
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
// JSON text of a call: what it may send and how that grows when it is escaped
const MAX_CALL_CHARS = 2.5 * MIB
// prints go nowhere: an abort would otherwise write to the console of the service
const SILENT = /** @type {object} */ ({ print() {}, printErr() {} })

/** @type {WorkerRequest} */
const WARM_UP = {
  code: 'await null; return args',
  input: '[{}]',
  timeoutMs: 5000,
  memoryMb: 16,
  maxOutputBytes: 9,
  maxFetches: 0,
}

const port = parentPort
if (!port) throw new Error('worker.mjs is started as a worker thread')

/** @type {WebAssembly.Module} */
const engine = workerData.engine ?? (await loadEngine())
/** What the host sends to the script that runs; numbers never come twice, so no reply meets another script. */
const mailbox = new Mailbox()
let lastCall = 0
// the first run compiles what every run needs; nobody should wait for that
await run(WARM_UP)
port.on('message', (/** @type {HostMessage} */ message) => {
  if (message.type === 'run') void serve(message.request)
  else mailbox.put(message)
})
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
    ending = await execute(runtime.newContext(), request, clock)
  } catch {
    // the engine itself gave up (aborted, or ran out of the thread's own stack)
    broken = true
    ending = failure('EXECUTION_ERROR', 'The script broke its sandbox by exhausting memory or stack')
  } finally {
    mailbox.clear()
  }
  let spent = broken || clock.interrupted || wasmMemory.buffer.byteLength > KEPT_BYTES
  if (clock.interrupted) {
    ending = tooSlow(request)
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
 * @returns {Promise<Ending>}
 */
async function execute(context, request, clock) {
  const { code, input, maxOutputBytes, maxFetches } = request
  const kit = loadPrelude(context, maxFetches)
  // A script that closes our function early only moves its own code: the VM around it stays the same.
  const compiled = context.evalCode(
    `(async function (args, dataContext, context, console${maxFetches > 0 ? ', fetch' : ''}) {\n${code}\n})`,
    SCRIPT_FILE,
    { type: 'global' },
  )
  if (compiled.error) return thrown(kit.describe(compiled.error), code, false)

  const promise = kit.start(compiled.value, context.newString(input))
  if (promise.error) return thrown(kit.describe(promise.error), code, true)

  let state = context.getPromiseState(promise.value)
  while (state.type === 'pending') {
    if (isLate(clock)) return tooSlow(request)
    for (const { id, reply } of mailbox.take()) {
      const settled = kit.settle(context.newNumber(id), context.newString(JSON.stringify(reply)))
      if (settled.error) return thrown(kit.describe(settled.error), code, true)
    }
    if (!context.runtime.hasPendingJob()) {
      if (mailbox.awaited === 0) return failure('EXECUTION_ERROR', 'The script awaits something that never settles')
      send({ type: 'waits', seen: mailbox.seen })
      // Nothing runs meanwhile, so a script that waits too long does not cost its worker.
      if (!(await mailbox.wait(clock.deadline - performance.now()))) return tooSlow(request)
      continue
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

/**
 * @param {Context} context
 * @param {number} maxFetches
 */
function loadPrelude(context, maxFetches) {
  const make = present(context.evalCode(PRELUDE, 'sandbox.js', { type: 'global' }))
  const emit = context.newFunction('emit', logger(context))
  const ask = maxFetches > 0 ? context.newFunction('ask', caller(context, maxFetches)) : context.undefined
  const numbers = [context.newNumber(MAX_LOG_CHARS), ask, context.newNumber(maxFetches)]
  const kit = present(context.callFunction(make, context.undefined, emit, ...numbers))
  const method = (/** @type {string} */ name) => {
    const handle = context.getProp(kit, name)
    return (/** @type {Handle[]} */ ...args) => context.callFunction(handle, context.undefined, ...args)
  }
  const describe = method('describe')
  return {
    start: method('start'),
    settle: method('settle'),
    finish: method('finish'),
    /** @param {Handle} error */
    describe: (error) => context.getString(present(describe(error))),
  }
}

/**
 * The host function behind `console`. It and the one behind `fetch` are all that a script can reach, and must not
 * throw: an error would carry this file's stack into the VM.
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
 * The host function behind `fetch`: gives the call's number, 0 when there were enough, -1 when this one is too large.
 *
 * @param {Context} context
 * @param {number} maxFetches
 */
function caller(context, maxFetches) {
  let calls = 0
  return (/** @type {Handle} */ json) => {
    try {
      if (calls >= maxFetches) return context.newNumber(0)
      const text = context.getString(json)
      if (text.length > MAX_CALL_CHARS) return context.newNumber(-1)
      const call = flat(JSON.parse(text))
      calls++
      lastCall++
      mailbox.expect(lastCall)
      send({ type: 'fetch', id: lastCall, call })
      return context.newNumber(lastCall)
    } catch {
      return context.newNumber(-1)
    }
  }
}

/**
 * Only texts leave the worker: a script that replaced what wrote them may have put anything in their place.
 *
 * @param {Record<string, unknown>} written
 * @returns {import('./protocol').FetchCall}
 */
function flat({ url, method, headers, body }) {
  const pairs = Array.isArray(headers) ? headers : []
  return {
    url: String(url),
    method: String(method),
    headers: pairs.slice(0, 100).map(([name, value]) => [String(name), String(value)]),
    body: body === null ? null : String(body),
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

/** @param {WorkerRequest} request */
function tooSlow({ timeoutMs }) {
  return failure('TIMEOUT', `The script ran longer than ${timeoutMs} ms`)
}

/**
 * @param {'EXECUTION_ERROR' | 'TIMEOUT'} code
 * @param {string} message
 * @returns {Ending}
 */
function failure(code, message) {
  return { ok: false, code, message, details: [] }
}
