/**
 * The part of the sandbox inside the VM, evaluated before the script. It is a string rather than a stringified
 * function, because loaders and minifiers may rewrite functions but never strings. It takes everything it needs from
 * the VM's built-ins now, so a script that later replaces `JSON.stringify` or `Reflect.apply` only fools itself. It is
 * a convenience, not the security boundary: no matter how a script abuses it, a string of bounded length comes out,
 * which the worker checks again.
 */
export const PRELUDE = `(function (emit, maxText) {
  'use strict'
  const { parse, stringify } = JSON
  const { apply } = Reflect
  const { slice } = String.prototype
  const { get: recall } = WeakMap.prototype
  const toText = String
  const AnyError = Error
  const AnyInternalError = InternalError

  const cut = (text, max) => (text.length > max ? apply(slice, text, [0, max]) : text)
  const read = (value, key) => {
    try {
      const found = value[key]
      return typeof found === 'string' ? found : ''
    } catch {
      return ''
    }
  }

  const show = (value) => {
    try {
      if (typeof value === 'string') return value
      if (typeof value === 'function') return '[function]'
      if (typeof value === 'bigint') return toText(value) + 'n'
      if (value instanceof AnyError) return read(value, 'name') + ': ' + read(value, 'message')
      const json = stringify(value)
      return typeof json === 'string' ? json : toText(value)
    } catch {
      return '[not printable]'
    }
  }

  const why = (error) => {
    const isObject = typeof error === 'object' && error !== null
    return (isObject && (read(error, 'message') || read(error, 'name'))) || show(error)
  }

  let open = true
  const line = (level) => (...parts) => {
    if (!open) return
    let text = ''
    for (let i = 0; i < parts.length && text.length <= maxText; i++) text += (i > 0 ? ' ' : '') + show(parts[i])
    open = emit(level, stringify(cut(text, maxText)))
  }
  const console = {
    debug: line('debug'),
    log: line('log'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  }

  // why a call failed, keyed by the error the script got, so a script cannot forge one
  const failures = new WeakMap()

  return {
    failures,
    probe: () => emit('', ''),

    start(script, input, fetch) {
      const values = parse(input)
      // Not a parameter: a script may have a variable of this name.
      globalThis.idempotencyKey = values[3]
      return script(values[0], values[1], values[2], console, fetch)
    },

    // '=' and the JSON text, '!' and the problem with the result, or '#' when memory ran out
    finish(value, maxLength) {
      if (value === undefined) return '=null'
      if (typeof value === 'function' || typeof value === 'symbol') return '!is a ' + typeof value + ', not JSON'
      let json
      try {
        json = stringify(value)
      } catch (error) {
        const message = error instanceof AnyInternalError ? read(error, 'message') : ''
        if (typeof error === 'unknown' || message === 'out of memory' || message === 'string too long') return '#'
        return '!cannot be written as JSON: ' + cut(why(error), 500)
      }
      if (typeof json !== 'string') return '=null'
      return json.length > maxLength ? '!is too large' : '=' + json
    },

    describe(error) {
      // Some functions of the engine throw what is no value when they run out of memory.
      if (typeof error === 'unknown') error = new AnyInternalError('out of memory')
      const isObject = typeof error === 'object' && error !== null
      const name = isObject ? read(error, 'name') : ''
      const stack = isObject ? read(error, 'stack') : ''
      const failure = isObject ? apply(recall, failures, [error]) : undefined
      return stringify({
        name: cut(name, 100),
        message: cut(why(error), 4000),
        stack: cut(stack, 8000),
        code: failure === undefined ? null : failure.code,
        transient: failure === undefined ? null : failure.transient,
      })
    },
  }
})`

/** The script's `fetch`, evaluated after the prelude. Only scripts that may use it get it. */
export const FETCH_PRELUDE = `(function (ask, failures) {
  'use strict'
  const { parse, stringify } = JSON
  const { apply } = Reflect
  const { toLowerCase } = String.prototype
  const { keys } = Object
  const { isArray } = Array
  const { set: remember } = WeakMap.prototype
  const toText = String
  const AnyError = Error
  const AnyPromise = Promise

  const fail = (error, failure) => {
    error.name = 'FetchError'
    error.message = failure.message
    error.code = failure.code
    apply(remember, failures, [error, failure])
    return error
  }

  const pairs = (headers) => {
    const list = []
    if (headers === undefined || headers === null) return list
    const names = isArray(headers) ? headers : keys(headers)
    for (let i = 0; i < names.length; i++) {
      const [name, value] = isArray(headers) ? names[i] : [names[i], headers[names[i]]]
      list[i] = [toText(name), toText(value)]
    }
    return list
  }

  let maxFetches = 0
  const calls = { __proto__: null }
  const fetch = (url, options) =>
    new AnyPromise((resolve, reject) => {
      // made now, so that its stack has the line of the call
      const error = new AnyError('')
      const given = options === undefined || options === null ? {} : options
      const body = given.body === undefined || given.body === null ? null : given.body
      if (body !== null && typeof body !== 'string') {
        error.message = 'The body of a fetch must be a string'
        throw error
      }
      const method = given.method === undefined ? 'GET' : toText(given.method)
      const id = ask(stringify({ url: toText(url), method, headers: pairs(given.headers), body }))
      if (id > 0) {
        calls[id] = { resolve, reject, error }
      } else {
        const why = id === 0 ? 'A script may call fetch ' + maxFetches + ' times' : 'The request is too large'
        throw fail(error, { code: 'EXECUTION_ERROR', message: why, transient: false })
      }
    })

  const toResponse = ({ status, headers, body, json = body }) => {
    const byName = { __proto__: null }
    for (let i = 0; i < headers.length; i++) byName[headers[i][0]] = headers[i][1]
    return {
      ok: status >= 200 && status < 300,
      status,
      headers: {
        get(name) {
          const value = byName[apply(toLowerCase, toText(name), [])]
          return value === undefined ? null : value
        },
      },
      text: async () => body,
      json: async () => parse(json),
    }
  }

  return {
    probe: () => ask(''),

    open(max) {
      maxFetches = max
      return fetch
    },

    // settles a call; code that awaits it continues with the next jobs
    settle(id, json) {
      const { resolve, reject, error } = calls[id]
      delete calls[id]
      const reply = parse(json)
      if (reply.failure) reject(fail(error, reply.failure))
      else resolve(toResponse(reply))
    },
  }
})`
