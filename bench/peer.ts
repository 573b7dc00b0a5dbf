import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedPostgres } from '@/db/embedded'
import type { Sql } from '@/db/types'
import { must, until } from './drive'
import type { Loopback } from './loopback'
import type { PeerName } from './peer-install'
import { databaseBytes } from './postgres'
import type { Kind, Subject } from './subject'

export interface PeerHost {
  /** Where the peers are installed. */
  scratch: string
  /** The Node that runs them. */
  node: string
  loopback: Loopback
  /** The server for peers that use Postgres: the same as the product's, with the same settings. */
  postgres: EmbeddedPostgres
  sql: Sql
}

/** The part of `/info` beyond the peer's process. */
interface Info {
  pids?: number[]
  storedBytes?: number
  /** Where runs are started, if not through `serve.mjs`. */
  urls?: Partial<Record<'run' | 'start', string>>
}

/** The role that peers use, so that their statements are not counted as ours. */
export const PEER_ROLE = 'peer'

export function peer(name: PeerName, host: PeerHost): Subject {
  const folder = join(host.scratch, name)
  const sideFile = join(folder, 'executed.txt')
  const { adminUrl, pid } = host.postgres
  const database = name === 'restate' ? undefined : { sql: host.sql, adminUrl, pid, name: `bench_${name}` }
  let child: ChildProcess | undefined
  let root = ''
  let info: Info = {}
  let serial = 0

  const nextKey = (kind: Kind) =>
    `${{ http: 'call-', slow: 'slow-' }[kind as string] ?? 'run-'}${process.pid}-${serial++}`
  const get = async (path: string) => (await must('GET', `${root}/${path}`)).body
  /** In the first moments after a start, a store may not answer yet. */
  const counts = async (): Promise<{ completed: number; paused: number }> => {
    let found = { completed: 0, paused: 0 }
    const answered = async () => {
      found = await get('counts')
      return true
    }
    await until(`${name} counted its runs`, () => answered().catch(() => false), { every: 50, limit: 20_000 })
    return found
  }
  const post = (url: string, kind: Kind = 'trivial') => must('POST', url, { key: nextKey(kind) })
  const at = (verb: 'run' | 'start', steps: number) =>
    (info.urls?.[verb] ?? `${root}/${verb}/{arg}`).replace('{arg}', String(steps))

  async function launch(env: Record<string, string> = {}): Promise<void> {
    const port = await freePort()
    root = `http://127.0.0.1:${port}`
    const started = spawn(host.node, ['server.mjs'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        NODE_ENV: 'production',
        PORT: String(port),
        BENCH_PG: urlOf(host.postgres),
        CALL_URL: host.loopback.callUrl,
        MODEL_URL: host.loopback.modelUrl,
        SIDE_FILE: sideFile,
        ...env,
      },
    })
    child = started
    const answers = async () => {
      info = await get('info')
      return true
    }
    await until(
      `${name} started`,
      async () => {
        if (started.exitCode !== null) throw new Error(`${name} ended with code ${started.exitCode} while starting`)
        return answers().catch(() => false)
      },
      { every: 50, limit: 120_000 },
    )
  }
  /** Ends the peer and every process it started. */
  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    const gone = new Promise<void>((done) => ending.once('exit', () => done()))
    if (signal === 'SIGKILL') killAll(info.pids)
    ending.kill(signal)
    if (await Promise.race([gone.then(() => true), sleep(8_000, false)])) return
    killAll(info.pids)
    ending.kill('SIGKILL')
    await gone
  }

  return {
    name,
    kinds: ['trivial', 'http', 'slow'],
    async up() {
      rmSync(sideFile, { force: true })
      await launch()
    },
    down: () => end('SIGTERM'),
    async killAndRestart() {
      await end('SIGKILL')
      await launch({ KEEP_DB: '1' })
    },
    run: async (kind) => (await post(at('run', 5), kind)).ms,
    runLong: async (steps) => ({ ms: (await post(at('run', steps))).ms }),
    async start(kind) {
      await post(at('start', 5), kind)
    },
    completed: async () => (await counts()).completed,
    pause: async () => (await post(`${root}/pause`)).body.id,
    async resume(id) {
      await post(`${root}/resume/${id}`)
    },
    status: async (id) => (await get(`status/${id}`)).status,
    paused: async () => (await counts()).paused,
    // The others have no agents.
    turns: name === 'mastra' ? { 'a turn': async () => (await must('POST', `${root}/turn`)).ms } : {},
    executed: () => (existsSync(sideFile) ? readFileSync(sideFile, 'utf8').split('\n').filter(Boolean) : []),
    processes: () => [child?.pid ?? 0, ...(info.pids ?? [])],
    storedBytes: async () =>
      database ? databaseBytes(database.sql, database.name) : (((await get('info')) as Info).storedBytes ?? 0),
    database,
  }
}

function urlOf({ adminUrl }: EmbeddedPostgres): string {
  const url = new URL(adminUrl)
  url.username = PEER_ROLE
  return url.href
}

function killAll(pids: readonly number[] = []): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => done(port))
    })
  })
}
