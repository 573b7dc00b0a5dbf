import { type FreshDatabase, freshDatabase } from './db'
import { startWeb, type Web } from './service'

/** The service and the credentials to call it with. */
export interface Caller {
  url: string
  apiKey: string
  tenantId: string
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer
  body: any
}

export interface CallOptions {
  /** Added to the credentials; an empty text removes a header. */
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** One call over HTTP. Strings are sent as they are, anything else as JSON. */
export async function call(
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  const headers: Record<string, string> = {
    'x-api-key': caller.apiKey,
    'x-tenant-id': caller.tenantId,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  for (const [name, value] of Object.entries(headers)) if (value === '') delete headers[name]
  const response = await fetch(`${caller.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  })
  const text = await response.text()
  const json = /\bjson/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
}

/** The settings of every web process in tests: no rate limits, test steps, no log. */
export const TEST_ENV = { MILLRACE_EMBEDDED: '1', MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'warn' }

export interface Api extends Web {
  database: FreshDatabase
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
}

/** The built service over HTTP on its own seeded database, as most API tests need it. */
export async function startApi(env: Record<string, string> = {}): Promise<Api> {
  const database = await freshDatabase()
  const web = await startWeb({ databaseUrl: database.url, env: { ...TEST_ENV, ...env } })
  return {
    ...web,
    database,
    call: (method, path, body, options) => call(web, method, path, body, options),
    async stop() {
      await web.stop()
      await database.close()
    },
  }
}
