/**
 * Endings that do not come from the script itself.
 *
 * @typedef {import('./protocol').Ending} Ending
 * @typedef {import('./protocol').WorkerRequest} WorkerRequest
 */

/**
 * @param {'EXECUTION_ERROR' | 'TIMEOUT'} code
 * @param {string} message
 * @returns {Ending}
 */
export function failure(code, message) {
  return { ok: false, code, message, details: [] }
}

/** @param {Pick<WorkerRequest, 'timeoutMs'>} request */
export function tooSlow({ timeoutMs }) {
  return failure('TIMEOUT', `The script ran longer than ${timeoutMs} ms`)
}

/** @param {Pick<WorkerRequest, 'memoryMb'>} request */
export function outOfMemory({ memoryMb }) {
  return failure('EXECUTION_ERROR', `The script ran out of memory: it may use ${memoryMb} MiB`)
}
