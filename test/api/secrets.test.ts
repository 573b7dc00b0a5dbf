import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import jwt from 'jsonwebtoken'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../auth/browser'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type Answer, type CallOptions, call as callApi, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startWeb, temporaryDir, type Web } from '../support/service'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const hex = (seed: string) => createHash('sha256').update(seed).digest('hex')

/** Secrets in the vault, for tools and models. */
const VAULT = {
  BEARER: 'plantedbearer/+=value1',
  QUERY: 'planted query&value2',
  BODY: 'plantedbodyvalue3',
  MCP: 'plantedmcpvalue4',
  LLM: 'planted-llm-key-value5',
  OPENAI_API_KEY: 'sk-planted-openai-value6',
}
/** Secrets in the installation's settings. */
const INSTALLED = {
  apiKey: `sk_${hex('api key')}`,
  encryptionKey: hex('encryption key'),
  databasePassword: 'planted-database-password-7',
  sessionSecret: 'planted-session-secret-value-8',
  anthropicKey: 'sk-ant-planted-value-9',
  password: 'planted password of Ada 10',
}
/** Errors from every layer: Next, the router, the handlers. */
const ERRORS = [
  ...['/no/such/page', '/%ff', '/_next/static/nothing', '/api/nothing'],
  ...['/api/workflows/wf_nothing', '/api/workflow/status/run_nothing'],
]

let database: FreshDatabase
let databaseUrl: string
let web: Web
let outside: Outside
const dataDir = temporaryDir()
/** Every answer that anyone received. */
const answers: string[] = []
/** The test's objects, by the parameter name in page paths. */
const made = { toolId: [] as string[], agentId: [] as string[], id: [] as string[], runId: [] as string[] }
beforeAll(async () => {
  outside = await startOutside(tellAll)
  database = await freshDatabase()
  // The test server trusts every connection, so any password works.
  databaseUrl = Object.assign(new URL(database.url), { password: INSTALLED.databasePassword }).href
  const env = {
    ALLOW_PRIVATE_HOSTS: `127.0.0.1:${outside.port}`,
    ENCRYPTION_KEY: INSTALLED.encryptionKey,
    NEXTAUTH_SECRET: INSTALLED.sessionSecret,
    ANTHROPIC_API_KEY: INSTALLED.anthropicKey,
    ANTHROPIC_BASE_URL: `${outside.url}/anthropic`,
    OPENAI_BASE_URL: `${outside.url}/openai`,
    LOG_LEVEL: 'trace',
  }
  web = await startWeb({ databaseUrl, apiKey: INSTALLED.apiKey, env: { ...TEST_ENV, ...env } })
  for (const [name, value] of Object.entries(VAULT))
    expect(await admin(['vault', 'set', '--name', name], value)).toMatchObject({ name, created: true })
  // Some are bound to hosts; the rest may go anywhere.
  await admin(['vault', 'set', '--name', 'MCP', '--hosts', `127.0.0.1:${outside.port}`], VAULT.MCP)
  const bound = await admin(['vault', 'bind', '--name', 'LLM', '--hosts', '*.LLM.example, 127.0.0.1'])
  expect(bound).toEqual({ name: 'LLM', hosts: ['*.llm.example', '127.0.0.1'] })
})
afterAll(async () => {
  await web.stop()
  await outside.stop()
  await database.close()
})

/** Returns everything it received to its caller in every possible way, also as a model and as an MCP server. */
function tellAll(seen: Seen, response: ServerResponse): void {
  const [status, said] = telling(seen)
  const echo = String(seen.headers.authorization ?? '')
  response.writeHead(status, { 'content-type': 'application/json', 'x-echo': echo }).end(JSON.stringify(said))
}

function telling({ url, headers, body }: Seen): [status: number, said: object | undefined] {
  const echo = { url, headers, body, decoded: decodeURIComponent(url) }
  // Providers repeat a key that they reject.
  const message = `Incorrect API key provided: ${headers.authorization} ${headers['x-api-key']}`
  if (url.startsWith('/openai') || url.startsWith('/anthropic')) return [401, { error: { message } }]
  if (url.startsWith('/llm')) {
    const said = { role: 'assistant', content: JSON.stringify({ said: JSON.stringify(headers) }) }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const choices = [{ index: 0, message: said, finish_reason: 'stop' }]
    return [200, { id: 'r', object: 'chat.completion', created: 1, model: 'm', choices, usage }]
  }
  if (url.startsWith('/mcp')) {
    const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
    const serverInfo = { name: 'echo', version: '1' }
    const said = { content: [{ type: 'text', text: JSON.stringify(echo) }], isError: url.includes('fail') }
    const opened = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
    if (id === undefined) return [202, undefined]
    return [200, { jsonrpc: '2.0', id, result: method === 'initialize' ? opened : said }]
  }
  return [Number(/status=(\d+)/.exec(url)?.[1] ?? 200), echo]
}

/** Runs the admin command next to the service. */
async function admin(args: string[], input?: string, { shown = true } = {}): Promise<Record<string, string>> {
  const settings = { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: INSTALLED.encryptionKey, DATA_DIR: dataDir }
  const env = { ...process.env, ...settings, NEXTAUTH_SECRET: INSTALLED.sessionSecret, LOG_LEVEL: 'trace' }
  const node = ['--import', 'tsx', '--conditions=react-server', 'cli/admin.ts']
  const output = await new Promise<string>((resolve, reject) => {
    const all = [...node, ...args, '--tenant', web.tenantId, '--json']
    const child = execFile(process.execPath, all, { cwd: ROOT, env }, (err, stdout, stderr) => {
      answers.push(shown ? stdout : '', stderr)
      if (err) reject(new Error(stderr))
      else resolve(stdout)
    })
    child.stdin?.end(input === undefined ? '' : `${input}\n`)
  })
  return JSON.parse(output)
}

async function call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
  const answer = await callApi(web, method, path, body, options)
  answers.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]))
  return answer
}

/** Tools with a secret in every place that allows one. */
function tools(url: string): object[] {
  const bearer = { authorization: 'Bearer ${secrets.BEARER}' }
  const query = { key: '${secrets.QUERY}' }
  const mcp = { toolName: 'x', headers: { a: '${secrets.MCP}' } }
  const http = [
    { url: `${url}/a`, headers: bearer },
    { url: `${url}/a`, headers: bearer, result: 'full' },
    { url: `${url}/q?status=404`, query },
    { url: `${url}/q`, query, result: 'text' },
    { url: `${url}/p/\${secrets.BODY}?status=403`, method: 'POST', body: { k: '${secrets.BODY}' } },
    { url: `${url}/p`, method: 'POST', bodyType: 'form', body: { k: '${secrets.QUERY}' } },
  ].map((config) => ({ kind: 'http', config }))
  return [
    ...http,
    {
      kind: 'http',
      config: { url: `${url}/p`, headers: { a: '${secrets.BEARER}' } },
      outputSchema: { type: 'string' },
    },
    { kind: 'mcp', config: { url: `${url}/mcp`, ...mcp } },
    { kind: 'mcp', config: { url: `${url}/mcp?fail`, ...mcp } },
  ]
}

async function useTools(): Promise<void> {
  for (const [i, tool] of tools(outside.url).entries()) {
    const { body } = await call('POST', '/api/tools', { name: `T${i}`, ...tool })
    made.toolId.push(body.id)
    expect((await call('POST', `/api/tools/${body.id}/invoke`, { args: {} })).status).toBe(200)
    await call('GET', `/api/tools/${body.id}`)
    // Also in a run: the step's record, its error, and the run data.
    await run({ type: 'call-tool', toolId: body.id, saveAs: 'r' }, ['completed', 'failed'])
  }
  await call('POST', '/api/tools/mcp/list', { url: `${outside.url}/mcp`, headers: { a: '${secrets.MCP}' } })
  // A script, an argument and a step's template cannot read any secret.
  const code = `console.log('\${secrets.MCP}'); return (await fetch('${outside.url}/s?\${secrets.MCP}')).json()`
  const config = { code, allowedHosts: [`127.0.0.1:${outside.port}`] }
  const script = (await call('POST', '/api/tools', { name: 'S', kind: 'script', config })).body
  const { success, data } = (await call('POST', `/api/tools/${script.id}/invoke`, {})).body
  expect([success, data.url]).toEqual([true, '/s?${secrets.MCP}'])
  await run({ type: 'end-flow', output: { x: '${secrets.MCP}' } }, ['failed', undefined])
}

/** Models that repeat their key, in answers and in errors. */
async function useModels(): Promise<void> {
  const outputSchema = { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] }
  const compatible = { provider: 'openai-compatible', modelId: 'm', baseUrl: `${outside.url}/llm/v1` }
  for (const [model, status] of [
    [{ ...compatible, apiKey: '${secrets.LLM}' }, 200],
    [{ provider: 'openai', modelId: 'gpt-5-mini' }, 500],
    [{ provider: 'anthropic', modelId: 'claude-sonnet-4-5' }, 500],
  ] as const) {
    const { body } = await call('POST', '/api/agents', { name: 'A', model, outputSchema })
    made.agentId.push(body.id)
    expect((await call('POST', `/api/agents/${body.id}/invoke`, { message: 'key?' })).status).toBe(status)
    await call('POST', '/api/chat', { agentId: body.id, message: 'key?' })
    await call('GET', `/api/agents/${body.id}`)
    const step = { type: 'call-agent', agentId: body.id, message: 'key?', retry: { maxAttempts: 1 } }
    await run(step, ['completed', 'failed'])
  }
}

async function run(step: object, ends: (string | undefined)[]): Promise<void> {
  const { body } = await call('POST', '/api/workflows', { name: 'W', steps: [{ id: 's', ...step }] })
  made.id.push(body.id)
  const started = await call('POST', `/api/workflow/start/${body.id}`, {})
  expect(ends).toContain(started.body.status)
  if (!started.body.runId) return
  made.runId.push(started.body.runId)
  await call('GET', `/api/workflow/status/${started.body.runId}`)
}

/** Authenticates with a token and as a person, successfully and unsuccessfully. @returns the credentials of each */
async function signIn(): Promise<{ signing: string; token: string; browser: Browser }> {
  const { id, secret = '', audience = '' } = await admin(['secret', 'create', '--name', 'S'], '', { shown: false })
  const token = jwt.sign({ sub: 'user_1' }, secret, { keyid: String(id), audience, expiresIn: 600 })
  const bearer = (text: string) => ({ headers: { 'x-api-key': '', authorization: `Bearer ${text}` } })
  expect((await call('POST', '/api/workflow/start/wf_hello', { name: 'Ada' }, bearer(token))).status).toBe(200)
  expect((await call('GET', '/api/workflows', undefined, bearer(`${token}x`))).status).toBe(401)
  expect((await call('GET', '/api/workflows', undefined, bearer(secret))).status).toBe(401)
  expect((await call('GET', '/api/workflows', undefined, { headers: { 'x-tenant-id': 'ten_other' } })).status).toBe(401)

  const member = ['member', 'create', '--email', 'ada@example.com', '--role', 'owner']
  // The command shows a password once, like the secret above.
  await admin([...member, '--password', INSTALLED.password], '', { shown: false })
  const browser = new Browser((request) => fetch(request), web.url, '127.0.0.1')
  expect(await browser.signIn('ada@example.com', `${INSTALLED.password}x`)).toMatchObject({ status: 401 })
  expect(await browser.signIn('ada@example.com', INSTALLED.password)).toMatchObject({ status: 200 })
  return { signing: secret, token, browser }
}

/** The paths of all pages of the app, from its file tree. Pages of an item are listed for some items. */
function pages(slug: string): string[] {
  const lists = {
    ...made,
    workflowId: made.id,
    tenant: [slug],
    token: ['none'],
    stepId: ['s'],
    code: ['NOT_FOUND'],
    '...nowhere': ['no/where'],
  }
  const some: Record<string, string[]> = Object.fromEntries(
    Object.entries(lists).map(([name, values]) => [name, values.slice(-3)]),
  )
  const files = readdirSync(join(ROOT, 'app'), { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /(^|\/)page\.tsx$/.test(file))
    .flatMap((file) => {
      const names = file.split('/').filter((name) => !/^\(.*\)$|^page\.tsx$/.test(name))
      return names.reduce(
        (paths, name) => {
          const values = name.startsWith('[') ? some[name.slice(1, -1)] : [name]
          if (!values) throw new Error(`The page ${file} needs something to show for ${name}`)
          return paths.flatMap((path) => values.map((value) => `${path}/${value}`))
        },
        [''],
      )
    })
}

async function visit(browser: Browser): Promise<void> {
  const [tenant] = await database.sql<{ slug: string }[]>`select slug from tenants where id = ${web.tenantId}`
  const paths = pages(tenant?.slug ?? '')
  expect(paths.length).toBeGreaterThan(10)
  for (const path of [...paths, ...ERRORS]) {
    const visitors = [browser.headers(), ...(ERRORS.includes(path) ? [{}, { 'x-api-key': INSTALLED.apiKey }] : [])]
    for (const headers of visitors) {
      const response = await fetch(`${web.url}${path || '/'}`, { headers, redirect: 'manual' })
      // The server may send a new cookie to the browser that owns it.
      const told = [...response.headers].filter(([name]) => name !== 'set-cookie')
      answers.push(await response.text(), JSON.stringify(told))
      expect(response.status, path).toBeLessThan(500)
    }
  }
}

/** Breaks every database connection, so that the resulting errors are covered too. */
async function breakConnections(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    await Promise.all(['/api/health', '/api/workflows', '/api/agents'].map((path) => call('GET', path)))
  }
}

/** All rows of all tables in all schemas, as text. */
async function allRows(): Promise<string[]> {
  const tables = await database.sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
  expect(tables.length).toBeGreaterThan(10)
  const rows = []
  for (const { name } of tables)
    rows.push(...(await database.sql.unsafe(`select t::text as row from ${name} t`)).map(({ row }) => String(row)))
  expect(rows.length).toBeGreaterThan(50)
  return rows
}

/** The forms in which a secret may be written. */
function waysOf(secret: string): string[] {
  const bytes = /^[0-9a-f]{64}$/.test(secret)
    ? [Buffer.from(secret), Buffer.from(secret, 'hex')]
    : [Buffer.from(secret)]
  return [
    secret,
    encodeURIComponent(secret),
    ...bytes.flatMap((raw) => [
      raw.toString('hex'),
      raw.toString('base64').replace(/=+$/, ''),
      raw.toString('base64url'),
    ]),
  ]
}

test('no planted secret appears in a response, a page, a log or a database row', async () => {
  await useTools()
  await useModels()
  const { signing, token, browser } = await signIn()
  await visit(browser)
  await breakConnections()
  expect(await admin(['vault', 'list'])).toHaveLength(Object.keys(VAULT).length)

  // First make sure that all secrets were really sent; otherwise their absence proves nothing.
  const sent = JSON.stringify(outside.seen.map(({ url, headers, body }) => [decodeURIComponent(url), headers, body]))
  for (const secret of [...Object.values(VAULT), INSTALLED.anthropicKey]) expect(sent).toContain(secret)
  const said = answers.join('\n')
  expect(said).toContain('***')
  const logs = web.logs()
  expect(logs.length).toBeGreaterThan(1_000)

  const cookies = [...browser.cookies].flatMap(([name, value]) => (/session/.test(name) ? [value] : []))
  expect(cookies).toHaveLength(1)
  const planted = { ...VAULT, ...INSTALLED, signing, token, cookie: cookies[0] ?? '' }
  expect(Object.keys(planted).length).toBeGreaterThanOrEqual(8)
  const places = { responses: said, logs, database: (await allRows()).join('\n') }
  const leaks = Object.entries(places).flatMap(([place, text]) => {
    // Rows show text as Postgres quotes it; pages show it as HTML and as script strings.
    const plain = text
      .replaceAll('""', '"')
      .replaceAll('\\\\', '\\')
      .replaceAll('&amp;', '&')
      .replaceAll('\\u0026', '&')
    return Object.entries(planted)
      .filter(([, secret]) => waysOf(secret).some((way) => text.includes(way) || plain.includes(way)))
      .map(([name]) => `${name} in ${place}`)
  })
  expect(leaks).toEqual([])

  expect(await admin(['vault', 'delete', '--name', 'MCP'])).toEqual({ name: 'MCP', deleted: true })
  const [last] = (await call('GET', '/api/tools?search=T8')).body
  expect((await call('POST', `/api/tools/${last.id}/invoke`, {})).body).toMatchObject({
    success: false,
    error: { code: 'SECRET_MISSING', message: 'The vault has no secret MCP.' },
  })
}, 240_000)
