import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { isJsonObject, type JsonObject } from '@/server/definition/json'
import { AppError } from '@/server/errors'
import { newId } from '@/server/ids'
import { matcher } from '@/server/rest/listener/match'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { ROUTES } from '@/server/rest/routes'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { ROUTES as CHANGES, PROCEDURES } from '../audit/changes'
import { type World, world } from '../audit/world'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { LONGEST_HOLD_MS, surelyHeld } from '../support/held'
import { rounds } from '../support/rounds'
import { sampled } from '../support/sample.mjs'
import { newTenant } from '../support/tenant'
import { caseOf, KINDS } from '../trpc/procedures'
import { callProcedure, newVisitor, type Visitor } from '../trpc/support'
import { AGENTS, TOOLS, WORKFLOWS } from './definitions'
import { type Hostile, hostileInputs, longTexts, unknownFields } from './hostile'
import { SEEDS, takesNothing } from './inputs'

const parsed = vi.hoisted(() => {
  Object.assign(process.env, {
    ...{ ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1', SYNC_START_TIMEOUT_MS: '20' },
  })
  return { all: null as { schema: unknown; input: unknown }[] | null }
})
vi.mock('@/server/parse', async (load) => {
  const real = await load<typeof import('@/server/parse')>()
  // Passes everything through and only records the schemas.
  const parseInput = ((schema, input) => {
    parsed.all?.push({ schema, input })
    return real.parseInput(schema, input)
  }) as typeof real.parseInput
  return { ...real, parseInput }
})

// For any input near an operation's limits, the event loop is never held for long: other callers get their turn. The
// operations are those of the router and of the document.

let database: FreshDatabase
let ctx: ServiceContext
let of: World
let owner: Visitor
let key: string
/** An object of each kind, by the name that parameters have for its id. */
let ids: Record<string, string>

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  await enterNewTenant()
})
afterAll(() => database.close())

/** Other tests need not read what one test leaves behind. */
async function enterNewTenant(): Promise<void> {
  ctx = await newTenant(database)
  of = world(ctx)
  owner = await newVisitor(ctx, 'owner')
  key = (await createApiKey(ctx, { name: 'owner', role: 'owner' })).key
  ids = await oneOfEach()
}

/** As long as this work takes. */
async function inNewTenant(work: () => Promise<void>): Promise<void> {
  const left = { ctx, of, owner, key, ids }
  await enterNewTenant()
  try {
    await work()
  } finally {
    ;({ ctx, of, owner, key, ids } = left)
  }
}

async function oneOfEach(): Promise<Record<string, string>> {
  const [{ runId, workflowId }, agent, tool, schedule, inbound, webhook, made, secret, vault, member] =
    await Promise.all([
      ...([of.run(), of.thread(), of.tool(), of.schedule(), of.inbound()] as const),
      ...([of.webhook(), of.key(), of.secret(), of.vault(), of.member()] as const),
    ])
  return {
    ...{ runId, ...schedule, ...inbound, workflowId, agentId: agent.id, threadId: agent.threadId, toolId: tool.id },
    ...{ webhookId: webhook.id, keyId: made.id, secretId: secret.id },
    ...{ ...vault, ...member, hookId: inbound.inboundId, version: '1' },
  }
}

/** The schema that parses a part of an input. */
interface Parsed {
  schema: z.ZodType
  at: string[]
}

/** An operation, a new valid input each time, and its call. */
interface Operation {
  name: string
  /** Its schema, if the document has one. */
  schemas?: Parsed[]
  seed(): Promise<JsonObject>
  call(input: JsonObject): Promise<number>
}

/** Maximum length of a URL. */
const MAX_URL = 12_000

/** The id that a procedure of this router takes. */
const IDS: Record<string, string> = {
  ...{ agents: 'agentId', inbound: 'inboundId', insights: 'workflowId', keys: 'keyId', members: 'userId' },
  ...{ runs: 'runId', schedules: 'scheduleId', secrets: 'secretId', taskLinks: 'runId', tasks: 'runId' },
  ...{ tools: 'toolId', vault: 'name', webhooks: 'webhookId', workflows: 'workflowId', live: 'workflowId' },
}

function procedure(name: string): Operation {
  const { input } = caseOf(name)
  const id = () => ids[IDS[name.split('.')[0] ?? ''] ?? 'workflowId'] ?? ''
  return {
    name,
    seed: async () => asJson((await PROCEDURES[name]?.input(of)) ?? input?.(id()) ?? SEEDS[name] ?? {}),
    // A stream's input is in its URL, and the web process refuses long ones.
    call: async (given) =>
      KINDS[name] === 'subscription' && JSON.stringify(given).length > MAX_URL
        ? 400
        : (await callProcedure(owner, name, given)).status,
  }
}

const asJson = (value: object) => JSON.parse(JSON.stringify(value)) as JsonObject

interface Handlers {
  [method: string]:
    | ((request: Request, context: { params: Promise<Record<string, string>> }) => Promise<Response>)
    | undefined
}

function endpoint({ method, path, body, query }: (typeof OPERATIONS)[number]): Operation {
  const found = matcher(ROUTES as never)(path.replace(/\{\w+\}/g, 'x'))
  if (!found) throw new Error(`No route answers ${path}.`)
  const change = CHANGES[`${method} ${found.folder.replace('/api/', '')}`]
  const [example] = Object.values(body?.examples ?? {}).map(({ value }) => value)
  const schemas: Parsed[] = []
  if (body) schemas.push({ schema: body.schema, at: ['body'] })
  if (query) schemas.push({ schema: query, at: ['query'] })
  return {
    name: `${method} ${path}`,
    ...(schemas.length > 0 ? { schemas } : {}),
    async seed() {
      const { body = example ?? {}, query = {}, ...own } = asJson((await change?.input(of)) ?? {})
      const named = [...found.folder.matchAll(/\[(\w+)\]/g)].map(([, name = '']) => [
        name,
        own[name] ?? own.workflowId ?? own.id ?? ids[name] ?? ids.workflowId,
      ])
      return { body, query, ids: Object.fromEntries(named) } as JsonObject
    },
    call: ({ body, query, ids: own }) =>
      request(found.module as Handlers, method, found.folder, { body, query, own } as never),
  }
}

async function request(
  handlers: Handlers,
  method: string,
  folder: string,
  { body, query, own }: { body: JsonObject; query: JsonObject; own: Record<string, string> },
): Promise<number> {
  const params = Object.fromEntries(
    [...folder.matchAll(/\[(\w+)\]/g)].map(([, name = '']) => [
      name,
      String(own[name] ?? own.workflowId ?? own.id ?? ids[name] ?? ids.workflowId),
    ]),
  )
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value).slice(0, MAX_URL)]))
  const leave = new AbortController()
  const response = await handlers[method]?.(
    new Request(`http://localhost/api/x?${search}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      signal: leave.signal,
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    }),
    { params: Promise.resolve(params) },
  )
  if (response?.headers.get('content-type')?.includes('event-stream')) await response.body?.cancel()
  else await response?.text()
  leave.abort()
  return response?.status ?? 0
}

/** Where in an operation's input a value lies that a verb has parsed; null if it is not part of it. */
function placeOf(input: unknown, seed: JsonObject): string[] | null {
  const text = JSON.stringify(input)
  if (text === JSON.stringify(seed)) return []
  for (const [name, value] of Object.entries(seed)) if (JSON.stringify(value) === text) return [name]
  return isJsonObject(input as never) && Object.keys(input as object).every((name) => Object.hasOwn(seed, name))
    ? []
    : null
}

/** What an operation parses, according to a call with a valid input. */
async function parsedBy({ call }: Operation, seed: JsonObject): Promise<Parsed[]> {
  parsed.all = []
  await call(seed)
  const noted = parsed.all
  parsed.all = null
  return noted.flatMap(({ schema, input }) => {
    const at = placeOf(input, seed)
    return at === null ? [] : [{ schema: schema as z.ZodType, at }]
  })
}

async function hostileTo(operation: Operation, seed: JsonObject): Promise<Hostile[]> {
  const fromSchemas = (operation.schemas ?? (await parsedBy(operation, seed))).flatMap(({ schema, at }) => {
    const options = { io: 'input', unrepresentable: 'any', cycles: 'ref' } as const
    return hostileInputs(z.toJSONSchema(schema, options) as JsonObject, seed, at)
  })
  const texts = fromSchemas.length > 0 ? [] : longTexts(isJsonObject(seed.ids) ? { ids: seed.ids } : seed)
  if (fromSchemas.length + texts.length === 0)
    expect(takesNothing(operation.name, seed), 'something hostile can be made for it').toBe(true)
  const chosenOnes = chosen(fromSchemas, names.indexOf(operation.name))
  return [...chosenOnes, ...texts, ...unknownFields(isJsonObject(seed.body) ? ['body'] : [])]
}

const STORED = { workflow: WORKFLOWS, agent: AGENTS, tool: TOOLS }

/** How an object of each kind is made, and the operations that take one. */
const NOUNS: Record<
  keyof typeof STORED,
  { create(ctx: ServiceContext, given: JsonObject): Promise<string>; takes: RegExp }
> = {
  workflow: {
    create: async (ctx, given) => (await createWorkflow(ctx, given)).id,
    takes:
      /^workflows\.|^reference\.|^runs\.start$|^inbound\.fields|\/workflows\/\{id\}|\{workflowId\}|\/definitions$|openapi\.json/,
  },
  agent: {
    create: async (ctx, given) => (await createAgent(ctx, given)).id,
    takes: /^agents\.|\{agentId\}|\/definitions$/,
  },
  tool: {
    create: async (ctx, given) => (await createTool(ctx, given)).id,
    takes: /^tools\.|\{toolId\}|\/definitions$/,
  },
}

/** Inputs made of these definitions. */
function inputsOf(definitions: Record<string, () => JsonObject>, into: (one: JsonObject) => JsonObject): Hostile[] {
  return Object.entries(definitions).map(([what, make]) => ({
    what,
    input: (seed) => {
      const given = into(make())
      return isJsonObject(seed.body) && isJsonObject(given.body)
        ? { ...seed, body: { ...seed.body, ...given.body } }
        : { ...seed, ...given }
    },
  }))
}

const named = (one: JsonObject) => ({ name: 'Hostile', ...one })
const listOf = (kind: string) => (one: JsonObject) => ({
  body: { publish: true, [kind]: [{ id: newId('wf'), ...named(one) }] },
})
const asFiles = () => [
  ...inputsOf(WORKFLOWS, listOf('workflows')),
  ...inputsOf(AGENTS, listOf('agents')),
  ...inputsOf(TOOLS, listOf('tools')),
]
const drafts = (definitions: Record<string, () => JsonObject>) => () =>
  inputsOf(definitions, (one) => ({ body: { draft: named(one), message: 'hello', args: {} } }))
const contents = (definitions: Record<string, () => JsonObject>) => () =>
  inputsOf(definitions, (one) => ({ body: { content: named(one) } }))

/** The operations that take a whole definition. */
const DEFINED: Record<string, () => Hostile[]> = {
  'POST /api/workflows': () => inputsOf(WORKFLOWS, (one) => ({ body: named(one) })),
  'PUT /api/workflows/{id}': () => inputsOf(WORKFLOWS, (one) => ({ body: one })),
  'workflows.create': () => inputsOf(WORKFLOWS, named),
  'workflows.save': () => inputsOf(WORKFLOWS, (one) => ({ body: one })),
  'workflows.check': () => inputsOf(WORKFLOWS, (one) => ({ definition: named(one) })),
  'workflows.scope': () => inputsOf(WORKFLOWS, (one) => ({ definition: named(one), stepId: 'step_20' })),
  'POST /api/agents': () => inputsOf(AGENTS, (one) => ({ body: named(one) })),
  'PUT /api/agents/{agentId}': () => inputsOf(AGENTS, (one) => ({ body: one })),
  'agents.create': () => inputsOf(AGENTS, named),
  'agents.saveDraft': contents(AGENTS),
  'agents.invokeDraft': drafts(AGENTS),
  'agents.beginDraftChat': () => inputsOf(AGENTS, (one) => ({ draft: named(one) })),
  'agents.runCases': drafts(AGENTS),
  'POST /api/tools': () => inputsOf(TOOLS, (one) => ({ body: named(one) })),
  'PUT /api/tools/{toolId}': () => inputsOf(TOOLS, (one) => ({ body: one })),
  'tools.create': () => inputsOf(TOOLS, named),
  'tools.saveDraft': contents(TOOLS),
  'tools.invokeDraft': drafts(TOOLS),
  'tools.runCases': drafts(TOOLS),
  'POST /api/definitions/diff': asFiles,
  'POST /api/definitions/backtest': asFiles,
  'POST /api/definitions/apply': asFiles,
}

const all: Record<string, Operation> = {
  ...Object.fromEntries(OPERATIONS.map((one) => [`${one.method} ${one.path}`, endpoint(one)])),
  ...Object.fromEntries(Object.keys(KINDS).map((name) => [name, procedure(name)])),
}
/** `SOAK=1` tries everything made from a schema; otherwise an even selection, a different one for each operation. */
const MAX_INPUTS = rounds(8, 10_000)

function chosen(hostile: Hostile[], from: number): Hostile[] {
  const each = Math.max(1, hostile.length / MAX_INPUTS)
  return Array.from(
    { length: Math.min(MAX_INPUTS, hostile.length) },
    (_, n) => hostile[Math.floor(n * each + (from % each))],
  ).flatMap((one) => one ?? [])
}

const names = Object.keys(all)
const LIMIT = `the event loop is never held for more than ${LONGEST_HOLD_MS} ms by`

/** Calls it and records how long that held the event loop, if it was too long. @returns the status */
async function noteHold(what: string, tooLong: string[], call: () => Promise<number>): Promise<number> {
  let status = 0
  const held = await surelyHeld(async () => {
    status = await call()
  })
  if (held > LONGEST_HOLD_MS) tooLong.push(`${what}: ${Math.round(held)} ms (${status})`)
  return status
}

/**
 * They read every definition of the workspace, for any input. One call among everything that the other operations have
 * left behind shows how they do that, and takes seconds; their inputs are tried where there is less to read.
 */
const READ_ALL = [
  ...['workflows.callers', 'workflows.startable', 'agents.users', 'tools.users', 'vault.list'],
  ...['groups.update', 'PUT /api/groups/{groupId}'],
]

describe(LIMIT, () => {
  test.each(sampled(names, 2))('%s', async (name) => {
    const operation = all[name] as Operation
    const tooLong: string[] = []
    if (READ_ALL.includes(name)) {
      const seed = await operation.seed()
      const status = await noteHold('all that is there', tooLong, () => operation.call(seed))
      expect(status, 'it has read all of it').toBe(200)
      await inNewTenant(() => tryHostile(name, operation, tooLong))
    } else await tryHostile(name, operation, tooLong)
    expect(tooLong).toEqual([])
  })
})

async function tryHostile(name: string, operation: Operation, tooLong: string[]): Promise<void> {
  let seed = await operation.seed()
  const hostile = [...(await hostileTo(operation, seed)), ...(DEFINED[name]?.() ?? [])]
  for (const [at, { what, input }] of hostile.entries()) {
    const given = input(seed)
    const status = await noteHold(what, tooLong, () => operation.call(given))
    // An action that is done can be repeated only on another object.
    if (status < 300 && at < hostile.length - 1) seed = await operation.seed()
  }
}

describe(`${LIMIT} what is done with`, () => {
  const ends = (name: string) => /archive|delete|revoke|remove/i.test(name)
  const stored = Object.entries(STORED).flatMap(([noun, definitions]) =>
    Object.keys(definitions).map((what) => [noun as keyof typeof STORED, what] as const),
  )
  test.each(sampled(stored, 2))('%s with %s', async (noun, what) => {
    const definition = { name: what, ...STORED[noun][what]?.() }
    const tooLong: string[] = []
    const { create, takes } = NOUNS[noun]
    await enterNewTenant()
    const id = await create(ctx, definition).catch((err: unknown) => {
      if (err instanceof AppError) return null
      throw err
    })
    // All operations that take a whole definition, above, refuse what may not be saved.
    if (id === null) return
    const operations = Object.keys(all).filter((name) => takes.test(name))
    expect(operations.length).toBeGreaterThan(5)
    for (const name of operations.sort((a, b) => Number(ends(a)) - Number(ends(b)))) {
      const before = ids
      ids = { ...ids, id, [`${noun}Id`]: id }
      const operation = all[name] as Operation
      const input = Object.hasOwn(KINDS, name)
        ? asJson(caseOf(name).input?.(id) ?? {})
        : { ...(await operation.seed()), ids: {} }
      await noteHold(name, tooLong, () => operation.call(input))
      ids = before
    }
    expect(tooLong).toEqual([])
  })
})
