/** @typedef {import('./protocol').Ending} Ending */

/** The file name scripts are compiled under; our own line comes before the script's first line. */
export const SCRIPT_FILE = 'script.js'

// below what a step may store (200), so that a result still fits inside the objects wrapped around it
const MAX_DEPTH = 180
const MAX_FRAMES = 10
const FETCH_FAILURES = /** @type {const} */ ([
  'BLOCKED_HOST',
  'CONNECTION_ERROR',
  'TIMEOUT',
  'HTTP_ERROR',
  'OUTPUT_INVALID',
])
const FRAME = new RegExp(`^\\s*at (?:(.*) \\()?${SCRIPT_FILE.replace('.', '\\.')}:(\\d+)(?::(\\d+))?\\)?$`)

/**
 * The failure of a script that threw or did not compile.
 *
 * @param {string} described what the prelude's `describe` returned
 * @param {string} code the script
 * @param {boolean} compiled
 * @returns {Ending}
 */
export function thrown(described, code, compiled) {
  const { name, message, stack, code: failed, transient } = readDescription(described)
  const lastLine = code.split('\n').length
  const frames = []
  for (const text of stack.split('\n')) {
    const frame = FRAME.exec(text)
    if (!frame || frames.length === MAX_FRAMES) continue
    // an unclosed bracket is only noticed in the line we add after the script
    const line = Math.min(Math.max(Number(frame[2]) - 1, 1), lastLine)
    const place = Number(frame[2]) - 1 > lastLine ? `line ${line}` : `line ${line}, column ${frame[3] ?? 1}`
    const caller = frame[1] && !frame[1].startsWith('<') ? `${frame[1].slice(0, 100)} (${place})` : place
    frames.push({ line, text: `at ${caller}` })
  }
  const details = [name, ...frames.map((frame) => frame.text)].filter((text) => text !== '').map(printable)
  const where = frames[0]
  const syntax = compiled || name !== 'SyntaxError' ? '' : `Syntax error${where ? ` in line ${where.line}` : ''}: `
  return { ok: false, code: failed, message: printable(syntax + message), details, ...(transient ? { transient } : {}) }
}

/**
 * The ending of a script that returned: its JSON text, unless that is larger or deeper than allowed.
 *
 * @param {string} finished what the prelude's `finish` returned
 * @param {number} maxBytes
 * @returns {Ending}
 */
export function returned(finished, maxBytes) {
  const json = finished.slice(1)
  if (!finished.startsWith('=')) {
    return invalid(json === 'is too large' ? tooLarge(maxBytes) : json)
  }
  if (Buffer.byteLength(json) > maxBytes) return invalid(tooLarge(maxBytes))
  if (isDeeperThan(json, MAX_DEPTH)) return invalid(`is nested deeper than ${MAX_DEPTH} levels`)
  return { ok: true, json }
}

/**
 * Text that databases and terminals accept: no NUL, no half of a surrogate pair.
 *
 * @param {string} text
 */
export function printable(text) {
  return Buffer.from(text.replaceAll('\0', '\uFFFD')).toString()
}

/** @param {number} maxBytes */
function tooLarge(maxBytes) {
  return `is too large: more than ${maxBytes} bytes of JSON`
}

/**
 * @param {string} problem
 * @returns {Ending}
 */
function invalid(problem) {
  return { ok: false, code: 'OUTPUT_INVALID', message: printable(`The script's result ${problem}`), details: [] }
}

/**
 * @param {string} described
 * @returns {{ name: string, message: string, stack: string, code: import('./protocol').FailureCode, transient: boolean }}
 */
function readDescription(described) {
  const { name, message, stack, code, transient } = JSON.parse(described)
  const failed = FETCH_FAILURES.find((known) => known === code) ?? 'EXECUTION_ERROR'
  const mayPass = failed !== 'EXECUTION_ERROR' && transient === true
  return { name: String(name), message: String(message), stack: String(stack), code: failed, transient: mayPass }
}

/**
 * Scans the text, because V8 can parse any depth but cannot write, clone or walk it again.
 *
 * @param {string} json
 * @param {number} max
 */
function isDeeperThan(json, max) {
  let depth = 0
  let quoted = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (quoted) {
      if (char === '\\') i++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '[' || char === '{') {
      depth++
      if (depth > max) return true
    } else if (char === ']' || char === '}') depth--
  }
  return false
}
