import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedPostgres } from '@/db/embedded'
import type { Sql } from '@/db/types'
import { openDriver } from '@/db/url'
import { type Answer, call, must, until } from './drive'
import type { Loopback } from './loopback'
import { databaseBytes, openCounter, startCounting } from './postgres'
import { type Service, startService } from './service'
import type { Kind, Subject } from './subject'
import { benchAgent, fiveSteps, longChain, withPause, withTurn } from './workflows'

const KINDS: readonly Kind[] = ['trivial', 'builtin', 'script', 'http', 'slow']
const DATABASE = 'millrace'

export interface Millrace extends Subject {
  /** A call of the API with the credential. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  tenantId(): Promise<string>
  readonly database: NonNullable<Subject['database']>
  /** The URL for the application's own role. */
  databaseUrl(): string
}

/**
 * The whole product: launcher, web process and embedded Postgres, in a temporary folder.
 * @param build the folder of the build; this one by default
 */
export function millrace(loopback: Loopback, build?: string): Millrace {
  let folder = ''
  let postgres: EmbeddedPostgres
  let starting: ReturnType<typeof startService> | undefined
  let service: Service | undefined
  let database: Millrace['database'] | undefined
  /** The superuser's connections to the product's database, for questions that the API does not answer. */
  let own: Sql | undefined
  /** The ids of workflows and the agent, by purpose. Each is created on first use. */
  let made = new Map<string, Promise<string>>()

  const running = () => {
    if (!service || !database || !own) throw new Error('the service is not running')
    return { service, database, own }
  }
  const ask: Millrace['ask'] = (method, path, body) => {
    const { url, apiKey } = running().service
    return must(method, url + path, body, { 'x-api-key': apiKey })
  }
  const once = (name: string, make: () => Promise<string>) => {
    const found = made.get(name) ?? make()
    made.set(name, found)
    return found
  }
  const published = (name: string, definition: () => Promise<object> | object) =>
    once(name, async () => {
      const { id } = (await ask('POST', '/api/workflows', await definition())).body
      await ask('POST', `/api/workflows/${id}/publish`, {})
      return id
    })
  const fiveOf = (kind: Kind) =>
    published(kind, async () => {
      const http = kind === 'http' ? await createHttpTool(ask, loopback.callUrl) : ''
      return fiveSteps(kind, { http }, loopback.effectUrl)
    })
  const runWhole = async (workflowId: string) => {
    const answer = await ask('POST', `/api/workflow/start/${workflowId}`, { n: 1 })
    if (answer.body.status !== 'completed') throw new Error(`a run did not complete: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const agentId = () =>
    once('agent', async () => (await ask('POST', '/api/agents', benchAgent(loopback.modelUrl))).body.id)
  const count = async (status: string) => {
    const [row] = await running().own<{ n: number }[]>`select count(*)::int as n from runs where status = ${status}`
    return row?.n ?? 0
  }

  return {
    name: 'millrace',
    kinds: KINDS,
    ask,
    async up() {
      folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
      // The launcher finds this server running and uses it, so it counts statements from the start.
      postgres = await startCounting(join(folder, 'postgres'))
      const { adminUrl, pid } = postgres
      database = { sql: await openCounter(adminUrl), adminUrl, name: DATABASE, pid }
      starting = startService(folder, build)
      service = await starting.ready
      const url = new URL(adminUrl)
      url.pathname = `/${DATABASE}`
      own = openDriver(url.href, { max: 2 })
      made = new Map()
    },
    async down() {
      await own?.end({ timeout: 1 })
      await database?.sql.end({ timeout: 1 })
      await starting?.stop()
      await postgres?.stop()
      if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      folder = ''
      service = undefined
      database = undefined
    },
    async killAndRestart() {
      const { service } = running()
      const killed = service.webPid()
      process.kill(killed, 'SIGKILL')
      // The launcher starts the next one by itself.
      const healthy = () =>
        call('GET', `${service.url}/api/health`).then(
          ({ status }) => status === 200,
          () => false,
        )
      await until('a new web process', async () => service.webPid() !== killed && (await healthy()))
    },
    run: async (kind) => (await runWhole(await fiveOf(kind))).ms,
    async runLong(steps) {
      const { ms, body } = await runWhole(await published(`long ${steps}`, () => longChain(steps)))
      return { ms, ...(await tenths(ask, body.runId)) }
    },
    async start(kind) {
      await ask('POST', `/api/workflow/start-async/${await fiveOf(kind)}`, { n: 1 })
    },
    completed: () => count('completed'),
    async pause() {
      const id = await published('pause', withPause)
      return (await ask('POST', `/api/workflow/start-async/${id}`, { n: 1 })).body.runId
    },
    async resume(id) {
      const body = { type: 'request_user_action', actionId: 'go', actionValue: 'go' }
      await ask('POST', `/api/workflow/resume/${id}`, body)
    },
    status: async (id) => (await ask('GET', `/api/workflow/status/${id}`)).body.status,
    paused: () => count('paused'),
    turns: {
      'a turn': async () => (await ask('POST', `/api/agents/${await agentId()}/invoke`, { message: 'Go on.' })).ms,
      'a turn in a run': async () =>
        (await runWhole(await published('a turn', async () => withTurn(await agentId())))).ms,
    },
    executed: () => loopback.effects,
    processes: () => [running().service.webPid()],
    storedBytes: () => databaseBytes(running().database.sql, DATABASE),
    async tenantId() {
      const [row] = await running().own<{ id: string }[]>`select id from tenants order by created_at limit 1`
      return row?.id ?? ''
    },
    databaseUrl: () => postgres.url,
    get database() {
      return running().database
    },
  }
}

async function createHttpTool(ask: Millrace['ask'], url: string): Promise<string> {
  const tool = { name: 'bench: a call on loopback', kind: 'http', config: { url } }
  const { id } = (await ask('POST', '/api/tools', tool)).body
  await ask('POST', `/api/tools/${id}/publish`)
  return id
}

/** The milliseconds per step in the first and the last tenth of a run, by its own records. */
async function tenths(ask: Millrace['ask'], runId: string): Promise<{ first: number; last: number }> {
  const starts: number[] = []
  for (let after = '0'; after; ) {
    const { body } = await ask('GET', `/api/workflow/history/${runId}?limit=1000&after=${after}`)
    for (const { startTime } of body.stepExecutionHistory) starts.push(Date.parse(startTime))
    after = body.next ?? ''
  }
  const tenth = Math.floor((starts.length - 1) / 10)
  const between = (from: number, to: number) => ((starts[to] ?? 0) - (starts[from] ?? 0)) / tenth
  return { first: between(0, tenth), last: between(starts.length - 1 - tenth, starts.length - 1) }
}
