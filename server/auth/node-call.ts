import { parseJsonObject, readText } from '../http/body'

const MAX_FORM_BYTES = 16 * 1024

/** The parts of a Node request that next-auth reads. It takes its own origin from the two headers set here. */
export async function nodeCall(
  request: Request,
  { protocol, host }: { protocol: 'http' | 'https'; host: string },
  nextauth: string[],
) {
  const url = new URL(request.url)
  const headers = Object.fromEntries(request.headers)
  const text = request.method === 'POST' ? await readText(request, MAX_FORM_BYTES) : ''
  return {
    method: request.method,
    headers: { ...headers, 'x-forwarded-host': host, 'x-forwarded-proto': protocol },
    cookies: Object.fromEntries(
      Object.entries(readCookies(request.headers)).filter(
        ([name, value]) => !name.endsWith('next-auth.callback-url') || isAddress(value),
      ),
    ),
    query: { ...withoutBadAddress(Object.fromEntries(url.searchParams)), nextauth },
    body: withoutBadAddress(readForm(text, headers['content-type'] ?? '')),
  }
}

/** The part of a Node response that next-auth writes to. */
export class NodeAnswer {
  private readonly headers = new Map<string, string | string[]>()
  private code = 200
  private body: string | null = null

  status(code: number): this {
    this.code = code
    return this
  }

  getHeader(name: string): string | string[] | undefined {
    return this.headers.get(name.toLowerCase())
  }

  setHeader(name: string, value: string | string[]): this {
    this.headers.set(name.toLowerCase(), value)
    return this
  }

  json(body: unknown): void {
    this.setHeader('content-type', 'application/json; charset=utf-8')
    this.body = JSON.stringify(body)
  }

  send(body: unknown): void {
    if (typeof body === 'object' && body !== null) this.json(body)
    else this.body = body === undefined ? null : String(body)
  }

  end(): void {}

  toResponse(requestId: string): Response {
    const headers = new Headers({ 'x-request-id': requestId, 'x-content-type-options': 'nosniff' })
    for (const [name, value] of this.headers) for (const one of [value].flat()) headers.append(name, one)
    headers.set('cache-control', 'no-store')
    return new Response(this.body, { status: this.code, headers })
  }
}

/** The request's cookies. If several share a name the first one counts, which has the most specific path. */
export function readCookies(headers: Headers): Record<string, string> {
  const cookies: Record<string, string> = Object.create(null)
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(0, at)).trim()
    if (name !== '') cookies[name] ??= decoded(pair.slice(at + 1).trim())
  }
  return cookies
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function readForm(text: string, type: string): Record<string, string> {
  if (!type.includes('json')) return Object.fromEntries(new URLSearchParams(text))
  const fields = Object.entries(parseJsonObject(text || '{}'))
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

/**
 * next-auth answers 500 when this is not a valid address. Its `redirect` callback decides where an address may lead.
 */
function withoutBadAddress({ callbackUrl, ...rest }: Record<string, string>): Record<string, string> {
  return callbackUrl !== undefined && isAddress(callbackUrl) ? { ...rest, callbackUrl } : rest
}

function isAddress(text: string): boolean {
  return /^(\/|https?:\/\/)/.test(text) && URL.canParse(text, 'http://localhost')
}
