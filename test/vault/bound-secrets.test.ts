import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createAgent, duplicateAgent, publishAgent, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { StepFailure } from '@/server/errors'
import { callAgent } from '@/server/steps/call-agent'
import { callTool } from '@/server/steps/call-tool'
import { invokeDraftTool } from '@/server/tools/invoke-draft'
import {
  createTool,
  duplicateTool,
  publishTool,
  publishToolDraft,
  restoreToolVersion,
  updateTool,
} from '@/server/tools/lifecycle'
import { listRemoteTools } from '@/server/tools/list-remote'
import { bindVaultSecret } from '@/server/vault/bind'
import { setVaultSecret } from '@/server/vault/set'
import { browseVault } from '@/server/views/vault'
import { newAgent } from '../agents/support'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { invokeAgent } from '../support/talk'
import { newTenant, withRole } from '../support/tenant'
import { invoke } from '../tools/support'
import { refusal } from '../workflows/support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

const VALUE = 'sk-planted-value-4711'
const never = new AbortController().signal

let database: FreshDatabase
let ctx: ServiceContext
/** The host that the secret is bound to; it redirects wherever its caller asks. */
let trusted: Outside
/** A host of a person who may edit tools. */
let elsewhere: Outside
beforeAll(async () => {
  trusted = await startOutside(redirectOrAnswer)
  elsewhere = await startOutside((_seen, response) => void response.end('{}'))
  process.env.ANTHROPIC_BASE_URL = `${trusted.url}/anthropic?to=${encodeURIComponent(elsewhere.url)}`
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
  await setVaultSecret(ctx, { name: 'KEY', value: VALUE })
})
afterEach(() => {
  trusted.seen.length = 0
  elsewhere.seen.length = 0
})
afterAll(async () => {
  await trusted.stop()
  await elsewhere.stop()
  await database.close()
})

function redirectOrAnswer({ url }: Seen, response: ServerResponse): void {
  const asked = new URL(url, trusted.url).searchParams
  const to = asked.get('to')
  if (to === null) response.end('{"ok":true}')
  else response.writeHead(Number(asked.get('status') ?? 302), { location: to }).end()
}

/** As an admin does it; until then the secret could go anywhere, so that anything could be saved. */
const bind = (...hosts: string[]) => bindVaultSecret(ctx, { name: 'KEY', hosts })
const place = (outside: Outside) => `127.0.0.1:${outside.port}`
const refusedAt = (outside: Outside) => ({
  code: 'SECRET_NOT_ALLOWED',
  message: `The secret KEY is not bound to ${place(outside)}. An admin can bind it there in the vault.`,
})

/** Every place of a tool that may hold a secret. */
const KEY = '${secrets.KEY}'
const toolsAt = (url: string): [what: string, tool: { kind: string; config: object }][] => [
  ['a header', { kind: 'http', config: { url, headers: { authorization: `Bearer ${KEY}` } } }],
  ['a header that goes along everywhere', { kind: 'http', config: { url, headers: { 'user-agent': KEY } } }],
  ['the query', { kind: 'http', config: { url, query: { k: KEY } } }],
  ['the path', { kind: 'http', config: { url: `${url.split('?')[0]}/${KEY}?${url.split('?')[1] ?? ''}` } }],
  ['the body', { kind: 'http', config: { url, method: 'POST', body: { k: KEY } } }],
  ['a header of MCP', { kind: 'mcp', config: { url, toolName: 'x', headers: { authorization: KEY } } }],
]
const PLACES = toolsAt('').map(([what]) => what)
const toolAt = (url: string, what: string) => ({ name: 'T', ...Object.fromEntries(toolsAt(url))[what] })
const modelAt = (baseUrl: string) => ({ provider: 'openai-compatible', modelId: 'm', baseUrl, apiKey: KEY })

describe('a call never reaches a host that one of its secrets is not bound to', () => {
  test.each(PLACES)('with the secret in %s', async (what) => {
    const { id } = await createTool(ctx, toolAt(`${elsewhere.url}/x`, what))
    await bind(place(trusted))
    const outcome = await invoke(ctx, id, {})
    expect(outcome).toEqual({ success: false, error: { ...refusedAt(elsewhere), details: [] } })
    expect(elsewhere.seen).toEqual([])
  })

  test.each(PLACES.flatMap((what) => [302, 303, 307, 308].map((status) => [what, status] as const)))(
    'by a redirect of the host it is bound to, with the secret in %s and the status %i',
    async (what, status) => {
      const to = encodeURIComponent(`${elsewhere.url}/taken?k=`)
      const { id } = await createTool(ctx, toolAt(`${trusted.url}/go?status=${status}&to=${to}`, what))
      await bind(place(trusted))
      expect(await invoke(ctx, id, {})).toMatchObject({ success: false })
      expect(trusted.seen).toHaveLength(1)
      expect(elsewhere.seen).toEqual([])
    },
  )

  test('when a redirect puts the secret into its address', async () => {
    const config = { url: `${trusted.url}/go`, query: { to: `${elsewhere.url}/?k=${KEY}` } }
    const { id } = await createTool(ctx, { name: 'T', kind: 'http', config })
    await bind(place(trusted))
    expect(await invoke(ctx, id, {})).toMatchObject({ error: refusedAt(elsewhere) })
    expect(elsewhere.seen).toEqual([])
  })

  test('when the tools of an MCP server are listed before anything is saved', async () => {
    await bind(place(trusted))
    const server = { url: elsewhere.url, headers: { authorization: KEY } }
    expect(await listRemoteTools(withRole(ctx, 'editor'), server, never)).toMatchObject({ error: refusedAt(elsewhere) })
    expect(elsewhere.seen).toEqual([])
  })

  test('when only one of two secrets may go there', async () => {
    await setVaultSecret(ctx, { name: 'OTHER', value: 'another-value-0815', hosts: [place(elsewhere)] })
    const headers = { a: '${secrets.OTHER}', b: KEY }
    const { id } = await createTool(ctx, { name: 'T', kind: 'http', config: { url: elsewhere.url, headers } })
    await bind(place(trusted))
    expect(await invoke(ctx, id, {})).toMatchObject({ error: refusedAt(elsewhere) })
    expect(elsewhere.seen).toEqual([])
  })

  test("as an agent's key, and a run's step fails for good", async () => {
    const { id } = await newAgent(ctx, { model: modelAt(`${elsewhere.url}/v1`) })
    await bind(place(trusted))
    const failed = await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))
    const said = `openai-compatible could not be used. ${refusedAt(elsewhere).message}`
    expect(failed).toMatchObject({
      code: 'MODEL_ERROR',
      details: [{ code: 'SECRET_NOT_ALLOWED', message: said, provider: 'openai-compatible' }],
    })
    const step = await run(callAgent, { agentId: id, message: 'x' })
    expect(step).toBeInstanceOf(StepFailure)
    expect(step).toMatchObject({ code: 'SECRET_NOT_ALLOWED', message: said })
    expect(elsewhere.seen).toEqual([])
  })

  test('as the key of a provider, neither named nor by the well-known name', async () => {
    await setVaultSecret(ctx, { name: 'ANTHROPIC_API_KEY', value: VALUE, hosts: ['api.anthropic.com'] })
    const { id } = await newAgent(ctx, { model: { provider: 'anthropic', modelId: 'm' } })
    const failed = await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))
    expect(failed.details).toMatchObject([{ code: 'SECRET_NOT_ALLOWED' }])
    expect(trusted.seen).toEqual([])
  })

  test('when a provider redirects', async () => {
    await setVaultSecret(ctx, { name: 'ANTHROPIC_API_KEY', value: VALUE, hosts: [place(trusted)] })
    const { id } = await newAgent(ctx, { model: { provider: 'anthropic', modelId: 'm' } })
    await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))
    expect(trusted.seen.map(({ headers }) => headers['x-api-key'])).toEqual([VALUE])
    expect(elsewhere.seen).toEqual([])
  })

  test("a run's step that calls a tool fails for good, and names the secret, never its value", async () => {
    const { id } = await createTool(ctx, toolAt(elsewhere.url, 'a header'))
    await bind(place(trusted))
    const failed = await run(callTool, { toolId: id })
    expect(failed).toBeInstanceOf(StepFailure)
    expect(failed).toMatchObject(refusedAt(elsewhere))
    expect(JSON.stringify(failed)).not.toContain(VALUE)
  })
})

describe('a call reaches', () => {
  test.each(['a header', 'the query', 'the path', 'the body'])(
    'the bound host, with the secret in %s',
    async (what) => {
      await bind(place(trusted))
      const { id } = await createTool(ctx, toolAt(`${trusted.url}/x`, what))
      expect(await invoke(ctx, id, {})).toEqual({ success: true, data: { ok: true } })
      const { url, headers, body } = trusted.seen[0] ?? expect.unreachable()
      expect([url, JSON.stringify(headers), body].join()).toContain(VALUE)
    },
  )

  test('a second host by a redirect when the secret is bound to both, though no credential goes along', async () => {
    await bind(place(trusted), place(elsewhere))
    const { id } = await createTool(ctx, toolAt(`${trusted.url}/go?to=${elsewhere.url}`, 'a header'))
    expect(await invoke(ctx, id, {})).toMatchObject({ success: true })
    expect(elsewhere.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  test('any host while nobody has bound its secret, as before', async () => {
    const { id } = await createTool(ctx, toolAt(elsewhere.url, 'a header'))
    expect(await invoke(ctx, id, {})).toMatchObject({ success: true })
    expect(elsewhere.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${VALUE}`])
  })
})

describe('saved definitions', () => {
  const refused = (path: string, host: string) => ({
    code: 'INVALID_INPUT',
    details: [{ path, code: 'SECRET_NOT_ALLOWED', message: expect.stringContaining(`KEY is not bound to ${host}.`) }],
  })

  test.each(PLACES)('never sends a bound secret elsewhere: a tool with it in %s', async (what) => {
    const there = refused('config.url', 'b.example.com')
    const { id } = await createTool(ctx, toolAt('https://b.example.com/x', what))
    await updateTool(ctx, { id, body: toolAt('https://a.example.com/x', what) })
    await bind('a.example.com')
    expect(await refusal(createTool(ctx, toolAt('https://b.example.com/x', what)))).toMatchObject(there)
    expect(await refusal(updateTool(ctx, { id, body: toolAt('https://b.example.com/', what) }))).toMatchObject(there)
    const { content: draft, problems } = await restoreToolVersion(ctx, { id, version: '1', revision: 0 })
    expect(problems).toMatchObject(there.details)
    expect(await refusal(publishToolDraft(ctx, { id, revision: 1 }))).toMatchObject(there)
    const tried = invokeDraftTool(ctx, { toolId: id, body: { draft } }, new AbortController().signal)
    expect(await refusal(tried)).toMatchObject(there)
    await publishTool(ctx, { id })
    await bind('c.example.com')
    // Published content stays published; its calls are refused one by one.
    await publishTool(ctx, { id })
    const moved = refused('config.url', 'a.example.com')
    expect(await refusal(duplicateTool(ctx, { id }))).toMatchObject(moved)
    expect(await refusal(updateTool(ctx, { id, body: { description: 'new' } }))).toMatchObject(moved)
  })

  test('never sends a bound secret elsewhere: an agent, by its base URL or its provider', async () => {
    const { id } = await createAgent(ctx, { name: 'A', model: modelAt('https://llm.example.com/v1') })
    await bind('api.openai.com')
    const there = refused('model.baseUrl', 'llm.example.com')
    expect(await refusal(publishAgent(ctx, { id }))).toMatchObject(there)
    expect(await refusal(duplicateAgent(ctx, { id }))).toMatchObject(there)
    const openai = { provider: 'openai', modelId: 'm', apiKey: KEY }
    await updateAgent(ctx, { id, body: { model: openai } })
    expect(await refusal(updateAgent(ctx, { id, body: { model: { ...openai, provider: 'google' } } }))).toMatchObject(
      refused('model.apiKey', 'generativelanguage.googleapis.com'),
    )
    await publishAgent(ctx, { id })
  })

  test('may name a secret that the vault does not have yet', async () => {
    const headers = { a: '${secrets.LATER}' }
    await createTool(ctx, { name: 'T', kind: 'http', config: { url: 'https://a.example.com/', headers } })
  })
})

test('the vault shows the users of a secret, and those that would send it to a forbidden host', async () => {
  const { id: toolId } = await createTool(ctx, toolAt('https://a.example.com/x', 'a header'))
  const { id: agentId } = await createAgent(ctx, { name: 'A', model: modelAt('https://llm.example.com:8443/v1') })
  await bind('*.example.com:443')
  expect(await browseVault(ctx)).toMatchObject([
    {
      name: 'KEY',
      hosts: ['*.example.com:443'],
      short: false,
      usedBy: [
        { kind: 'tool', id: toolId, refusedAt: null },
        { kind: 'agent', id: agentId, refusedAt: 'llm.example.com:8443' },
      ],
      calledHosts: ['a.example.com', 'llm.example.com:8443'],
    },
  ])
})

/** A step's work; resolves to its error. */
function run(step: typeof callTool | typeof callAgent, config: object): Promise<unknown> {
  if (step.mode !== 'effect') throw new Error('the step must do work')
  const call = { ctx, data: {}, signal: never, idempotencyKey: 'k' }
  return step.run({ config: step.config.parse(config) as never, ...call }).catch((err: unknown) => err)
}
