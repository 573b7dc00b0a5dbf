import { caller, logger, MAX_LOG_CHARS } from './host-calls.mjs'
import { Machine, newInstance } from './machine.mjs'
import { FETCH_PRELUDE, PRELUDE } from './prelude.mjs'

/**
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSHandle} Handle
 * @typedef {import('./machine.mjs').Instance} Instance
 * @typedef {import('./protocol').FetchCall} FetchCall
 * @typedef {import('./protocol').LogLine} LogLine
 * @typedef {(level: Handle, json: Handle) => Handle} Emit
 * @typedef {(json: Handle) => Handle} Ask
 */

/**
 * A context with the preludes in it. It runs one script at a time and needs a `reset` before the next.
 */
export class Vm {
  memoryMb
  machine
  #kit
  #fetchKit
  // the current targets of `console` and `fetch`
  /** @type {Emit | null} */
  #emit = null
  /** @type {Ask | null} */
  #ask = null

  /**
   * @param {Instance} instance
   * @param {WebAssembly.Memory} memory
   * @param {number} memoryMb
   */
  constructor(instance, memory, memoryMb) {
    this.memoryMb = memoryMb
    this.machine = new Machine(instance, memory, memoryMb, (context) => this.#furnish(context))
    const { kit, fetchKit } = this.machine.furniture
    this.#kit = kit
    this.#fetchKit = fetchKit
  }

  /**
   * @param {WebAssembly.Module} engine
   * @param {number} memoryMb the maximum for a script
   */
  static async start(engine, memoryMb) {
    const { instance, memory } = await newInstance(engine, memoryMb)
    return new Vm(instance, memory, memoryMb)
  }

  get context() {
    return this.machine.context
  }

  /** Clears the last script. False if this VM cannot be used again. */
  reset() {
    this.#emit = null
    this.#ask = null
    return this.machine.reset()
  }

  /** @param {(line: LogLine) => void} write where `console` goes */
  allowLog(write) {
    this.#emit = logger(this.context, write)
  }

  /**
   * @param {number} maxFetches
   * @param {(call: FetchCall) => number} place makes a call and returns its number
   */
  allowFetch(maxFetches, place) {
    this.#ask = caller(this.context, maxFetches, place)
  }

  /**
   * @param {Handle} script the function that wraps the script
   * @param {string} input
   * @param {number} maxFetches 0 if the script has no `fetch`
   */
  start(script, input, maxFetches) {
    const { context } = this
    const fetch =
      maxFetches > 0 ? present(this.#call(this.#fetchKit, 'open', context.newNumber(maxFetches))) : context.undefined
    return this.#call(this.#kit, 'start', script, context.newString(input), fetch)
  }

  /**
   * @param {number} id
   * @param {string} reply
   */
  settle(id, reply) {
    const { context } = this
    return this.#call(this.#fetchKit, 'settle', context.newNumber(id), context.newString(reply))
  }

  /**
   * @param {Handle} value
   * @param {number} maxLength
   */
  finish(value, maxLength) {
    return this.#call(this.#kit, 'finish', value, this.context.newNumber(maxLength))
  }

  /** @param {Handle} error */
  describe(error) {
    return this.context.getString(present(this.#call(this.#kit, 'describe', error)))
  }

  /** @param {Context} context */
  #furnish(context) {
    const emit = context.newFunction('emit', (level, json) => this.#emit?.(level, json) ?? context.true)
    const ask = context.newFunction('ask', (json) => this.#ask?.(json) ?? context.newNumber(0))
    const kit = evaluate(context, PRELUDE, emit, context.newNumber(MAX_LOG_CHARS))
    const fetchKit = evaluate(context, FETCH_PRELUDE, ask, context.getProp(kit, 'failures'))
    return {
      kit,
      fetchKit,
      probe() {
        for (const part of [kit, fetchKit])
          present(context.callFunction(context.getProp(part, 'probe'), context.undefined))
      },
    }
  }

  /**
   * @param {Handle} kit
   * @param {string} name
   * @param {Handle[]} args
   */
  #call(kit, name, ...args) {
    return this.context.callFunction(this.context.getProp(kit, name), this.context.undefined, ...args)
  }
}

/**
 * @param {Context} context
 * @param {string} prelude
 * @param {Handle[]} args
 */
function evaluate(context, prelude, ...args) {
  const make = present(context.evalCode(prelude, 'sandbox.js', { type: 'global' }))
  return present(context.callFunction(make, context.undefined, ...args))
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
