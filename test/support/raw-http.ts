import { request as httpRequest } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { expect } from 'vitest'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  bytes: Buffer
}

export const JSON_TYPE = { 'content-type': 'application/json' }

/** HTTP that no well-behaved client sends. */
export function rawHttp(web: () => { url: string; apiKey: string }) {
  /** Sends requests that `fetch` would correct: unmodified paths, repeated headers, bodies with a wrong length. */
  function send(
    method: string,
    path: string,
    options: { headers?: Record<string, string | string[]>; body?: string | Buffer | Buffer[]; key?: boolean } = {},
  ): Promise<Answer> {
    const { hostname, port } = new URL(web().url)
    const key = options.key === false ? {} : { 'x-api-key': web().apiKey }
    return new Promise((done, fail) => {
      const outgoing = httpRequest(
        { hostname, port, method, path, headers: { ...key, ...options.headers } },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.once('error', fail)
          response.once('end', () => {
            const bytes = Buffer.concat(chunks)
            done({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: bytes.toString('utf8'),
              bytes,
            })
          })
        },
      )
      outgoing.once('error', fail)
      if (Array.isArray(options.body)) for (const chunk of options.body) outgoing.write(chunk)
      else if (options.body !== undefined) outgoing.write(options.body)
      outgoing.end()
    })
  }

  const post = (path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
    send('POST', path, { body, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } })

  /** Sends raw bytes that no HTTP client would. @returns the status line and everything after it */
  function sendRaw(text: string): Promise<string> {
    const { hostname, port } = new URL(web().url)
    return new Promise((done, fail) => {
      const socket = connectTcp(Number(port), hostname, () => socket.write(text, 'latin1'))
      const chunks: Buffer[] = []
      socket.setTimeout(10_000, () => socket.destroy())
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.once('error', fail)
      socket.once('close', () => done(Buffer.concat(chunks).toString('utf8')))
    })
  }

  return { send, post, sendRaw }
}

/** Checks that an error has the usual shape and reveals no internals. */
export function expectError(answer: Answer, status: number, code: string): void {
  expect(answer.status, answer.text).toBe(status)
  const body = JSON.parse(answer.text)
  expect(body).toEqual({
    success: false,
    error: { message: expect.any(String), code, details: expect.any(Array) },
    requestId: answer.headers['x-request-id'],
  })
  expect(answer.text).not.toMatch(/node_modules|\bat \w+ \(|select |insert |postgres|drizzle|\.ts:\d/i)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  expect(Object.keys(answer.headers)).not.toContain('x-powered-by')
}
