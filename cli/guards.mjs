// Requests refused before they reach the app, in every process that serves requests.

/** Next answers 500 to TRACE, and 400 without a body to unknown methods. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** For pages. From anything else, Next would read a form for an action; we have none. */
const PAGE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * The methods of a path.
 * @param {string} [url]
 */
export function methodsOf(url = '') {
  return /^\/api(?![^/?])/.test(url) ? METHODS : PAGE_METHODS
}

/** Maximum length of a URL. A redirect repeats it in a header, and clients take no more than 16 kB of headers. */
export const MAX_URL = 8_192

/**
 * Maximum length of all headers, as Node counts it. The server reads more, so that a refusal can carry the headers that
 * a page on another origin needs to read it.
 */
const MAX_HEADERS = 16 * 1024
export const READ_HEADERS = 4 * MAX_HEADERS

/** @param {readonly string[]} rawHeaders */
export function areTooLarge(rawHeaders) {
  return rawHeaders.reduce((size, text) => size + text.length + 2, 0) > MAX_HEADERS
}

/** Whether the path is percent-encoded UTF-8. Next answers 500 if not. @param {string} [url] */
export function isWellFormed(url = '') {
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '')
    return true
  } catch {
    return false
  }
}
