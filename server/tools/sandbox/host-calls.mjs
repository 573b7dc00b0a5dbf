import { printable } from './report.mjs'

/**
 * The two host functions within a script's reach: those behind `console` and `fetch`. Neither may throw, because an
 * error would carry this file's stack into the VM.
 *
 *
 * @typedef {import('quickjs-emscripten').QuickJSContext} Context
 * @typedef {import('quickjs-emscripten').QuickJSHandle} Handle
 * @typedef {import('./protocol').FetchCall} FetchCall
 * @typedef {import('./protocol').LogLine} LogLine
 */

const MIB = 1024 * 1024
const MAX_LINES = 100
export const MAX_LOG_CHARS = 16 * 1024
/** JSON text of a call: the largest request, plus room for escaping. */
const MAX_CALL_CHARS = 2.5 * MIB

/**
 * @param {Context} context
 * @param {(line: LogLine) => void} write
 */
export function logger(context, write) {
  let lines = 0
  let room = MAX_LOG_CHARS
  return (/** @type {Handle} */ level, /** @type {Handle} */ json) => {
    try {
      if (lines > MAX_LINES) return context.false
      const text = printable(JSON.parse(context.getString(json)))
      lines++
      if (lines > MAX_LINES || text.length > room) {
        lines = MAX_LINES + 1
        const kept = `${text.slice(0, room)}\n[further output was dropped]`
        write({ level: 'warn', text: kept.trimStart(), truncated: true })
        return context.false
      }
      room -= text.length
      write({ level: asLevel(context.getString(level)), text })
      return context.true
    } catch {
      return context.false
    }
  }
}

/**
 * Returns the number of the call to the script; 0 after too many calls, -1 if this one is too large.
 *
 *
 * @param {Context} context
 * @param {number} maxFetches
 * @param {(call: FetchCall) => number} place
 */
export function caller(context, maxFetches, place) {
  let calls = 0
  return (/** @type {Handle} */ json) => {
    try {
      if (calls >= maxFetches) return context.newNumber(0)
      const text = context.getString(json)
      if (text.length > MAX_CALL_CHARS) return context.newNumber(-1)
      const call = flat(JSON.parse(text))
      calls++
      return context.newNumber(place(call))
    } catch {
      return context.newNumber(-1)
    }
  }
}

/**
 * Lets only strings leave the worker: the script may have replaced the code that wrote them.
 * @param {Record<string, unknown>} written
 * @returns {FetchCall}
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
