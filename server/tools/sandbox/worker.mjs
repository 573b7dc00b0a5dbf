import { parentPort, workerData } from 'node:worker_threads'
import { failure, outOfMemory, tooSlow } from './endings.mjs'
import { compileEngine } from './machine.mjs'
import { Mailbox } from './mailbox.mjs'
import { returned, SCRIPT_FILE, thrown } from './report.mjs'
import { Vm } from './vm.mjs'

/**
 * Runs one script at a time, each in a context restored to its state before any script, so nothing leaks from one
 * script (or tenant) to the next. The next context is prepared while nobody is waiting.
 *
 * Plain JavaScript, because plain Node starts it without a loader.
 *
 *
 * @typedef {import('./protocol').Ending} Ending
 * @typedef {import('./protocol').HostMessage} HostMessage
 * @typedef {import('./protocol').WorkerMessage} WorkerMessage
 * @typedef {import('./protocol').WorkerRequest} WorkerRequest
 * @typedef {{ deadline: number, interrupted: boolean }} Clock
 */

const MIB = 1024 * 1024
// a script that grows its memory past this ends its worker, which frees the memory at once
const KEPT_BYTES = 32 * MIB
const JOBS_PER_SLICE = 1000
/** Extra memory for the engine to report an error after the script has used up its own. */
const REPORT_MIB = 8
const NEVER_SETTLES = 'The script awaits something that never settles'

/** @type {WorkerRequest} */
const WARM_UP = {
  code: 'await null; return args',
  input: '[{}]',
  timeoutMs: 5000,
  memoryMb: 64,
  maxOutputBytes: 9,
  maxFetches: 0,
}

const port = parentPort
if (!port) throw new Error('worker.mjs is started as a worker thread')

/** @type {WebAssembly.Module} */
const engine = workerData.engine ?? (await compileEngine())
/**
 * Receives the host's messages to the running script. Call numbers never repeat, so no reply reaches another script.
 */
const mailbox = new Mailbox()
let lastCall = 0
let next = await Vm.start(engine, WARM_UP.memoryMb)
// the first run compiles shared code; do it before anybody waits
await run(next, WARM_UP)
if (!next.reset()) next = await Vm.start(engine, WARM_UP.memoryMb)
let served = Promise.resolve()
port.on('message', (/** @type {HostMessage} */ message) => {
  if (message.type === 'fetched') mailbox.put(message)
  // wait until the next context is ready
  else served = served.then(() => serve(message.request))
})
send({ type: 'ready', engine })

/** @param {WorkerMessage} message */
function send(message) {
  port?.postMessage(message)
}

/** @param {WorkerRequest} request */
async function serve(request) {
  const vm = next.memoryMb === request.memoryMb ? next : await Vm.start(engine, request.memoryMb)
  send({ type: 'began' })
  const answer = await run(vm, request)
  send({ type: 'done', ...answer })
  if (vm === next && !answer.spent && !vm.reset()) next = await Vm.start(engine, WARM_UP.memoryMb)
}

/**
 * @param {Vm} vm
 * @param {WorkerRequest} request
 * @returns {Promise<{ ending: Ending, spent: boolean }>}
 */
async function run(vm, request) {
  const clock = { deadline: performance.now() + request.timeoutMs, interrupted: false }
  vm.machine.interrupt = () => isLate(clock)
  /** @type {Ending} */
  let ending
  let broken = false
  try {
    ending = await execute(vm, request, clock)
  } catch {
    // the engine itself gave up: it aborted, or ran out of the thread's own stack
    broken = true
    ending = failure('EXECUTION_ERROR', 'The script crashed its sandbox by exhausting memory or stack')
  } finally {
    mailbox.clear()
  }
  if (clock.interrupted) ending = tooSlow(request)
  else if (!ending.ok && (isMemoryError(ending) || (vm.machine.isFull && (broken || saysNothing(ending))))) {
    ending = outOfMemory(request)
  }
  return { ending, spent: broken || vm.machine.bytes > KEPT_BYTES }
}

/**
 * @param {Vm} vm
 * @param {WorkerRequest} request
 * @param {Clock} clock
 * @returns {Promise<Ending>}
 */
async function execute(vm, request, clock) {
  const { context } = vm
  const { code, input, maxOutputBytes, maxFetches } = request
  vm.allowLog((line) => send({ type: 'log', line }))
  if (maxFetches > 0) vm.allowFetch(maxFetches, placeCall)
  const fail = (/** @type {import('quickjs-emscripten').QuickJSHandle} */ error, compiled = true) => {
    context.runtime.setMemoryLimit((request.memoryMb + REPORT_MIB) * MIB)
    return thrown(vm.describe(error), code, compiled)
  }
  // A script that closes our function early only moves its own code: the VM around it stays the same.
  const compiled = context.evalCode(
    `(async function (args, dataContext, context, console${maxFetches > 0 ? ', fetch' : ''}) {\n${code}\n})`,
    SCRIPT_FILE,
    { type: 'global' },
  )
  if (compiled.error) return fail(compiled.error, false)

  const promise = vm.start(compiled.value, input, maxFetches)
  if (promise.error) return fail(promise.error)

  let state = context.getPromiseState(promise.value)
  while (state.type === 'pending') {
    if (isLate(clock)) return tooSlow(request)
    for (const { id, reply } of mailbox.take()) {
      const settled = vm.settle(id, JSON.stringify(reply))
      if (settled.error) return fail(settled.error)
    }
    if (!context.runtime.hasPendingJob()) {
      if (mailbox.awaited === 0) return failure('EXECUTION_ERROR', NEVER_SETTLES)
      send({ type: 'waits', seen: mailbox.seen })
      // Nothing runs meanwhile, so a script that waits too long does not cost its worker.
      if (!(await mailbox.wait(clock.deadline - performance.now()))) return tooSlow(request)
      continue
    }
    const jobs = context.runtime.executePendingJobs(JOBS_PER_SLICE)
    if (jobs.error) return fail(jobs.error)
    state = context.getPromiseState(promise.value)
  }
  if (state.type === 'rejected') return fail(state.error)

  const finished = vm.finish(state.value, maxOutputBytes)
  if (finished.error) return fail(finished.error)
  const text = context.getString(finished.value)
  return text === '#' ? outOfMemory(request) : returned(text, maxOutputBytes)
}

/** @param {import('./protocol').FetchCall} call */
function placeCall(call) {
  lastCall++
  mailbox.expect(lastCall)
  send({ type: 'fetch', id: lastCall, call })
  return lastCall
}

/**
 * A string beyond the engine's maximum length is also larger than any script's memory.
 *
 * @param {Ending & { ok: false }} ending
 */
function isMemoryError({ message, details: [name] }) {
  if (name === 'InternalError') return /^(out of memory( in regexp execution)?|string too long)$/.test(message)
  return name === 'RangeError' && message === 'invalid string length'
}

/**
 * Recognises a failure for which there was not even memory for an error message.
 *
 * @param {Ending & { ok: false }} ending
 */
function saysNothing({ message, details }) {
  return details.length === 0 && (/(^|: )null$/.test(message) || message === NEVER_SETTLES)
}

/** @param {Clock} clock */
function isLate(clock) {
  clock.interrupted ||= performance.now() > clock.deadline
  return clock.interrupted
}
