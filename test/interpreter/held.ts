import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server for `test-effect` steps that holds back its answers until released. */
export interface HeldEffects {
  url: string
  /** The number of steps that have called so far. */
  asked(): number
  /** Answers all calls, now and from now on. */
  release(): void
  stop(): Promise<void>
}

export async function holdEffects(): Promise<HeldEffects> {
  const held: ServerResponse[] = []
  let asked = 0
  let released = false
  const answer = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{}')
  }
  const server = createServer((request, response) => {
    asked++
    request.resume()
    if (released) answer(response)
    else held.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked: () => asked,
    release() {
      released = true
      for (const response of held.splice(0)) answer(response)
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
