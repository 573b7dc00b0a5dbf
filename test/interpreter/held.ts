import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server for `test-effect` steps that withholds its answers until released. */
export interface HeldEffects {
  url: string
  /** The number of steps that have called so far. */
  asked(): number
  /** Answers one call, by order of arrival. */
  answer(call: number, body: object, status?: number): void
  /** Answers all calls, now and from now on. */
  release(): void
  stop(): Promise<void>
}

export async function holdEffects(): Promise<HeldEffects> {
  const held: ServerResponse[] = []
  let asked = 0
  let released = false
  const answer = (response: ServerResponse, body = {}, status = 200) => {
    if (response.writableEnded) return
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    asked++
    request.resume()
    held.push(response)
    if (released) answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked: () => asked,
    answer(call, body, status) {
      const response = held[call]
      if (!response) throw new Error(`there was no call ${call}`)
      answer(response, body, status)
    },
    release() {
      released = true
      for (const response of held) answer(response)
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
