import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A deployment on a serverless platform: an address, and behind it a function that sleeps between requests. */
export interface Deployment {
  url: string
  /** How many instances were started. */
  coldStarts(): number
  /** Ends the instance immediately, so that the next request starts another. */
  discard(): Promise<void>
  /** Whether the instance is stopped. */
  sleeps(): boolean
  logs(): string
  close(): Promise<void>
}

interface Instance {
  child: ChildProcess
  port: Promise<number>
}

const FUNCTION = fileURLToPath(new URL('./function.mjs', import.meta.url))
const WAKE_MS = 20

/** @param folder the deployed files @param env as the platform sets it, including the address */
export async function openDeployment(
  folder: string,
  home: string,
  env: (host: string) => Record<string, string>,
): Promise<Deployment> {
  const log = join(home, 'function.log')
  appendFileSync(log, '')
  let started = 0
  let instance: Instance | undefined

  function start(): Instance {
    started += 1
    const child = spawn(process.execPath, [FUNCTION], {
      cwd: folder,
      // A function's disk is read-only except for its temporary folder, and it has no other variables than these.
      env: {
        PATH: process.env.PATH,
        TMPDIR: home,
        NODE_ENV: 'production',
        ...env(host),
      } as unknown as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => appendFileSync(log, data))
    const port = new Promise<number>((done, fail) => {
      child.once('message', (message) => done((message as { port: number }).port))
      child.once('exit', (code) => fail(new Error(`The function ended with ${code}.\n${readFileSync(log, 'utf8')}`)))
    })
    port.catch(() => {})
    const made = { child, port }
    child.once('exit', () => {
      if (instance === made) instance = undefined
    })
    return made
  }

  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch((error: Error) => {
      appendFileSync(log, `${error.message}\n`)
      outgoing.writeHead(500, { 'x-platform-error': 'FUNCTION_INVOCATION_FAILED' }).end()
    })
  })

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    instance ??= start()
    const { child, port } = instance
    const options = {
      host: '127.0.0.1',
      port: await port,
      method: incoming.method,
      path: incoming.url,
      // The platform replaces clients' proxy headers.
      headers: {
        ...incoming.headers,
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-host': incoming.headers.host ?? '',
        'x-forwarded-proto': 'http',
      },
      agent: false,
    }
    // The instance may be about to stop after an earlier answer.
    const waking = setInterval(() => child.kill('SIGCONT'), WAKE_MS)
    child.kill('SIGCONT')
    try {
      await new Promise<void>((done, fail) => {
        const call = send(options, (answer) => {
          clearInterval(waking)
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
          answer.once('close', done)
        })
        call.once('error', fail)
        outgoing.once('close', () => call.destroy())
        incoming.pipe(call)
      })
    } finally {
      clearInterval(waking)
      if (child.connected) child.send('answered')
    }
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const host = `localhost:${(server.address() as AddressInfo).port}`

  async function discard(): Promise<void> {
    const { child } = instance ?? {}
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((done) => child.once('exit', done))
    child.kill('SIGKILL')
    await gone
  }
  return {
    url: `http://${host}`,
    coldStarts: () => started,
    discard,
    sleeps: () => stateOf(instance?.child.pid) === 'T',
    logs: () => readFileSync(log, 'utf8'),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await discard()
    },
  }
}

/** A process's state as the kernel names it: T is stopped. */
function stateOf(pid: number | undefined): string | undefined {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}
