import { InexactNumber, parseExact } from '@/server/definition/long-numbers'
import { decoded, type FoundSecret, withoutSecrets } from './curl-secrets'
import type { ImportedCall } from './imported-call'

/**
 * Converts a curl command to a tool's request, with its secrets beside it and notes on the parts that could not be
 * converted.
 * @throws Error with a message for users
 */
export function importCurl(command: string): { call: ImportedCall; secrets: FoundSecret[]; notes: string[] } {
  const words = shellWords(command)
  if (words[0] === '$') words.shift()
  if (!/(^|\/)curl(\.exe)?$/.test(words[0] ?? '')) throw new Error('The command must begin with curl.')
  const read = readOptions(words.slice(1))
  if (read.url === '') throw new Error('The command has no URL.')
  const url = withoutUser(/^https?:\/\//i.test(read.url) ? read.url : `http://${read.url}`, read)
  const data = read.data.length > 0 && !read.asQuery ? read.data.join('&') : undefined
  const method = read.method ?? (read.head ? 'HEAD' : data === undefined ? 'GET' : 'POST')
  const query = read.asQuery && read.data.length > 0 ? `${url.includes('?') ? '&' : '?'}${read.data.join('&')}` : ''
  const call: ImportedCall = {
    method: method.toUpperCase(),
    url: `${url}${query}`,
    headers: read.headers,
    ...bodyOf(data, read),
  }
  if (read.timeoutMs !== undefined) call.timeoutMs = read.timeoutMs
  const { notes, ...hidden } = withoutSecrets(call)
  return { ...hidden, notes: [...new Set([...read.notes, ...notes])] }
}

/** The URL without its user and password, which become a header as with `--user`. */
function withoutUser(url: string, read: Read): string {
  const [whole, scheme = '', user] = /^(https?:\/\/)([^/?#]*)@/i.exec(url) ?? []
  if (whole === undefined || user === undefined) return url
  setUser(read, decoded(user.replaceAll('+', '%2B')))
  return `${scheme}${url.slice(whole.length)}`
}

/** Only the shell knows a value with a `$`, so it cannot be encoded here. */
function setUser(read: Read, user: string): void {
  if (read.headers.authorization !== undefined) return
  const isKnown = !/[$`]/.test(user)
  read.headers.authorization = `Basic ${isKnown ? base64(user) : user}`
  if (!isKnown) read.notes.push('The secret of authorization is the Base64 text of user:password.')
}

interface Read {
  url: string
  method: string | undefined
  head: boolean
  asQuery: boolean
  headers: Record<string, string>
  data: string[]
  json: boolean
  timeoutMs: number | undefined
  notes: string[]
}

const WITH_VALUE: Record<string, string> = {
  X: 'request',
  H: 'header',
  d: 'data',
  u: 'user',
  A: 'user-agent',
  e: 'referer',
  b: 'cookie',
  m: 'max-time',
  F: 'form',
  o: 'output',
  x: 'proxy',
  w: 'write-out',
  T: 'upload-file',
  E: 'cert',
  c: 'cookie-jar',
}
const SILENT = new Set(
  'compressed silent show-error insecure location verbose fail include no-buffer globoff http1.1 http2 s S k L v f i N g'.split(
    ' ',
  ),
)
const LONG_WITH_VALUE = new Set([
  ...Object.values(WITH_VALUE),
  'data-raw',
  'data-binary',
  'data-ascii',
  'data-urlencode',
  'json',
  'url',
  'connect-timeout',
  'retry',
  'cacert',
  'key',
  'resolve',
])

function readOptions(words: string[]): Read {
  const read: Read = {
    url: '',
    method: undefined,
    head: false,
    asQuery: false,
    headers: {},
    data: [],
    json: false,
    timeoutMs: undefined,
    notes: [],
  }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!word.startsWith('-') || word === '-') {
      read.url ||= word
      continue
    }
    const { names, attached } = optionNames(word)
    for (const [index, name] of names.entries()) {
      if (!LONG_WITH_VALUE.has(name)) {
        flag(read, name)
        continue
      }
      const value = index === names.length - 1 && attached !== undefined ? attached : words[++at]
      if (value === undefined) throw new Error(`--${name} has no value.`)
      option(read, name, value)
    }
  }
  return read
}

/** `--data=x`, `-dx`, `-sSX`: the option names in one word, and the value attached to the last. */
function optionNames(word: string): { names: string[]; attached?: string } {
  if (word.startsWith('--')) {
    const [name = '', ...rest] = word.slice(2).split('=')
    return rest.length === 0 ? { names: [name] } : { names: [name], attached: rest.join('=') }
  }
  const names: string[] = []
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const long = WITH_VALUE[letter]
    names.push(long ?? letter)
    if (long && at + 1 < word.length) return { names, attached: word.slice(at + 1) }
    if (long) break
  }
  return { names }
}

function flag(read: Read, name: string): void {
  if (name === 'G' || name === 'get') read.asQuery = true
  else if (name === 'I' || name === 'head') read.head = true
  else if (!SILENT.has(name)) read.notes.push(`${name.length > 1 ? `--${name}` : `-${name}`} was left out.`)
}

function option(read: Read, name: string, value: string): void {
  switch (name) {
    case 'request':
      read.method = value
      return
    case 'url':
      read.url ||= value
      return
    case 'header': {
      const colon = value.indexOf(':')
      if (colon > 0) read.headers[value.slice(0, colon).trim().toLowerCase()] = value.slice(colon + 1).trim()
      return
    }
    case 'json':
      read.json = true
      read.data.push(value)
      return
    case 'data-urlencode': {
      const equals = value.indexOf('=')
      const [key, text] = equals < 0 ? ['', value] : [value.slice(0, equals), value.slice(equals + 1)]
      read.data.push(key === '' ? encodeURIComponent(text) : `${key}=${encodeURIComponent(text)}`)
      return
    }
    case 'data':
    case 'data-raw':
    case 'data-binary':
    case 'data-ascii':
      if (name !== 'data-raw' && value.startsWith('@')) read.notes.push(`The file ${value.slice(1)} was not read.`)
      else read.data.push(value)
      return
    case 'user':
      setUser(read, value)
      return
    case 'user-agent':
    case 'referer':
    case 'cookie':
      read.headers[name] = value
      return
    case 'max-time':
      if (Number(value) > 0) read.timeoutMs = Math.min(60_000, Math.round(Number(value) * 1000))
      return
    default:
      read.notes.push(`--${name} was left out.`)
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}

function bodyOf(data: string | undefined, read: Read): Pick<ImportedCall, 'body' | 'bodyType'> {
  if (data === undefined) return { bodyType: 'json' }
  const { headers, json } = read
  const type = headers['content-type'] ?? ''
  if (json || type === '' || /json/i.test(type)) {
    try {
      const body = parseExact(data)
      // The tool sets this header itself.
      if (/^application\/json\b/i.test(type)) delete headers['content-type']
      return { body, bodyType: 'json' }
    } catch (error) {
      if (error instanceof InexactNumber) {
        read.notes.push(`The body is sent as text: ${error.message.replace(/;.*/, '')}.`)
        headers['content-type'] ??= 'application/json'
        return { body: data, bodyType: 'text' }
      }
      if (json || type !== '') return { body: data, bodyType: 'text' }
    }
  }
  if (type === '' || /x-www-form-urlencoded/i.test(type)) {
    delete headers['content-type']
    return { body: Object.fromEntries(new URLSearchParams(data)), bodyType: 'form' }
  }
  return { body: data, bodyType: 'text' }
}

/** Splits a command into words as a shell does, with quotes, escapes and continued lines. Runs and expands nothing. */
export function shellWords(command: string): string[] {
  const words: string[] = []
  let word: string | null = null
  for (let at = 0; at < command.length; at++) {
    const char = command.charAt(at)
    if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (char === '\\') {
      at += 1
      if (command.charAt(at) === '\r') at += 1
      if (command.charAt(at) !== '\n') word = (word ?? '') + command.charAt(at)
    } else if (char === "'" || (char === '$' && command.charAt(at + 1) === "'")) {
      const ansi = char === '$'
      const end = closing(command, at + (ansi ? 2 : 1), "'", ansi)
      const text = command.slice(at + (ansi ? 2 : 1), end)
      word = (word ?? '') + (ansi ? unescapeAnsi(text) : text)
      at = end
    } else if (char === '"') {
      const end = closing(command, at + 1, '"', true)
      word =
        (word ?? '') + command.slice(at + 1, end).replace(/\\(\r?\n|[\s\S])/g, (whole, it) => unescapeDouble(whole, it))
      at = end
    } else word = (word ?? '') + char
  }
  if (word !== null) words.push(word)
  return words
}

function closing(text: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from; at < text.length; at++) {
    if (escapes && text.charAt(at) === '\\') at += 1
    else if (text.charAt(at) === quote) return at
  }
  throw new Error('A quote is not closed.')
}

function unescapeDouble(whole: string, char: string): string {
  if (char === '\n' || char === '\r\n') return ''
  return ['"', '\\', '$', '`'].includes(char) ? char : whole
}

function unescapeAnsi(text: string): string {
  const plain: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
  return text.replace(/\\(u[0-9a-fA-F]{4}|[\s\S])/g, (_whole, it: string) =>
    it.length === 5 ? String.fromCharCode(Number.parseInt(it.slice(1), 16)) : (plain[it] ?? it),
  )
}
