import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One execution of a `test-effect` step, as seen by its server. */
export interface Effect {
  key: string
  path: string
  body: Record<string, unknown>
  /** When it began. */
  at: Date
}

export interface EffectAnswer {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  delayMs?: number
  /** Delays the answer until this settles. */
  after?: Promise<unknown>
}

export interface EffectServer {
  url: string
  seen: Effect[]
  stop(): Promise<void>
}

/** The outside world in tests: records every execution with its idempotency key and answers as configured. */
export async function startEffects(
  answer: (effect: Effect, times: number) => EffectAnswer = () => ({}),
): Promise<EffectServer> {
  const seen: Effect[] = []
  const server = createServer(async (request, response) => {
    const at = new Date()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const effect: Effect = {
      key: String(request.headers['idempotency-key']),
      path: request.url ?? '/',
      body: JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>,
      at,
    }
    seen.push(effect)
    const {
      status = 200,
      headers = {},
      body = {},
      delayMs = 0,
      after,
    } = answer(effect, seen.filter(({ key }) => key === effect.key).length)
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    await after
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
