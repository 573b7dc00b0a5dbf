/**
 * The part of the sandbox that lives inside the VM, evaluated before the script. It is text, not a
 * function to be stringified: loaders and minifiers may rewrite functions, never strings.
 *
 * Everything it needs from the VM's built-ins is taken now, so a script that replaces `JSON.stringify` or
 * `Reflect.apply` later only fools itself. It is a convenience of the VM, not its wall: whatever a script
 * does to it, what comes out is a string of bounded length that the worker checks again.
 */
export const PRELUDE = `(function (emit, maxText) {
  'use strict'
  const { parse, stringify } = JSON
  const { apply } = Reflect
  const { slice } = String.prototype
  const toText = String
  const AnyError = Error

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

  return {
    start(script, input) {
      const values = parse(input)
      return script(values[0], values[1], values[2], console)
    },

    // '=' and the JSON text, or '!' and what is wrong with the result
    finish(value, maxLength) {
      if (value === undefined) return '=null'
      if (typeof value === 'function' || typeof value === 'symbol') return '!is a ' + typeof value + ', not JSON'
      let json
      try {
        json = stringify(value)
      } catch (error) {
        return '!cannot be written as JSON: ' + cut(why(error), 500)
      }
      if (typeof json !== 'string') return '=null'
      return json.length > maxLength ? '!is too large' : '=' + json
    },

    describe(error) {
      const isObject = typeof error === 'object' && error !== null
      const name = isObject ? read(error, 'name') : ''
      const stack = isObject ? read(error, 'stack') : ''
      return stringify({ name: cut(name, 100), message: cut(why(error), 4000), stack: cut(stack, 8000) })
    },
  }
})`
