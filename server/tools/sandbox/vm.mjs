import { caller, logger, MAX_LOG_CHARS } from './host-calls.mjs'
import { FETCH_PRELUDE, PRELUDE } from './prelude.mjs'

/**
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSHandle} Handle
 * @typedef {import('./machine.mjs').Machine} Machine
 * @typedef {import('./protocol').FetchCall} FetchCall
 * @typedef {import('./protocol').LogLine} LogLine
 */

/** A context with the prelude in it, which runs a single script. */
export class Vm {
  machine
  context
  #kit
  /** @type {Handle | null} */
  #fetchKit = null

  /**
   * @param {Machine} machine
   * @param {Context} context
   * @param {(line: LogLine) => void} write where `console` goes
   */
  constructor(machine, context, write) {
    this.machine = machine
    this.context = context
    const emit = context.newFunction('emit', logger(context, write))
    this.#kit = this.#evaluate(PRELUDE, emit, context.newNumber(MAX_LOG_CHARS))
  }

  /**
   * @param {number} maxFetches
   * @param {(call: FetchCall) => number} place makes a call and returns its number
   */
  allowFetch(maxFetches, place) {
    const { context } = this
    const ask = context.newFunction('ask', caller(context, maxFetches, place))
    const failures = context.getProp(this.#kit, 'failures')
    this.#fetchKit = this.#evaluate(FETCH_PRELUDE, ask, context.newNumber(maxFetches), failures)
  }

  /**
   * @param {Handle} script the function that wraps the script
   * @param {string} input
   */
  start(script, input) {
    const { context } = this
    const fetch = this.#fetchKit ? context.getProp(this.#fetchKit, 'fetch') : context.undefined
    return this.#call(this.#kit, 'start', script, context.newString(input), fetch)
  }

  /**
   * @param {number} id
   * @param {string} reply
   */
  settle(id, reply) {
    const { context } = this
    if (!this.#fetchKit) throw new Error('a reply without a call')
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

  /**
   * @param {string} prelude
   * @param {Handle[]} args
   */
  #evaluate(prelude, ...args) {
    const make = present(this.context.evalCode(prelude, 'sandbox.js', { type: 'global' }))
    return present(this.context.callFunction(make, this.context.undefined, ...args))
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
 * Not the library's `unwrapResult`, which would copy the error out object by object.
 *
 * @param {ReturnType<Context['callFunction']>} result
 */
function present(result) {
  if (result.error) throw new Error('the prelude failed')
  return result.value
}
