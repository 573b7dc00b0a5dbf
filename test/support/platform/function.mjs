// One instance of a function, as a serverless platform runs it: it serves requests with its deployed files, and after a
// response it stops in the middle of any work, unless something was passed to `waitUntil`.
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

/** @type {AsyncLocalStorage<{ waitUntil(work: Promise<unknown>): void }>} */
const context = new AsyncLocalStorage()
// Where Next looks for the platform's `waitUntil`.
Object.assign(globalThis, { [Symbol.for('@next/request-context')]: { get: () => context.getStore() } })

const require = createRequire(`${process.cwd()}/`)
// The server that a platform puts in front of the routes; the files of `next start` are not deployed.
const { default: NextServer } = require('next/dist/server/next-server')
const { config } = JSON.parse(readFileSync('.next/required-server-files.json', 'utf8'))
const http = createServer()
let busy = 0

function begin() {
  busy += 1
  let ended = false
  return () => {
    if (ended) return
    ended = true
    busy -= 1
    sleepIfIdle()
  }
}

function sleepIfIdle() {
  if (busy === 0) process.kill(process.pid, 'SIGSTOP')
}
// The platform may have woken this process again after its response.
process.on('message', sleepIfIdle)

/** @param {Promise<unknown>} work */
function waitUntil(work) {
  const end = begin()
  Promise.resolve(work).then(end, end)
}

http.listen(0, '127.0.0.1', async () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address())
  const app = new NextServer({ dir: process.cwd(), dev: false, conf: config, hostname: '127.0.0.1', port })
  const answer = app.getRequestHandler()
  http.on('request', (request, response) => {
    const end = begin()
    response.once('finish', end)
    response.once('close', end)
    context.run({ waitUntil }, async () => answer(request, response))
  })
  process.send?.({ port })
})
process.on('disconnect', () => process.exit())
