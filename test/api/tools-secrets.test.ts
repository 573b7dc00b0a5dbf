import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Outside, startOutside } from '../net/outside'
import { type Answer, type Api, startApi } from '../support/api'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENCRYPTION_KEY = 'cd'.repeat(32)

/** Each is planted once and looked for everywhere. */
const SECRETS = {
  BEARER: 'plantedbearer/+=value1',
  QUERY: 'planted query&value2',
  BASIC: 'plantedbasicvalue3',
  MCP: 'plantedmcpvalue4',
}
const ways = Object.values(SECRETS).flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
])

let api: Api
let outside: Outside
let dataDir: string
const answers: string[] = []
beforeAll(async () => {
  // Tells its caller everything that it was told, in every way it can.
  outside = await startOutside((seen, response) => {
    const { url, headers, body } = seen
    const echo = { url, headers, body, decoded: decodeURIComponent(url) }
    if (url.startsWith('/mcp')) {
      const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string }
      const serverInfo = { name: 'echo', version: '1' }
      const said = { content: [{ type: 'text', text: JSON.stringify(echo) }], isError: url.includes('fail') }
      const opened = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
      const result = method === 'initialize' ? opened : said
      if (id === undefined) return void response.writeHead(202).end()
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    const status = Number(/status=(\d+)/.exec(url)?.[1] ?? 200)
    response.writeHead(status, { 'content-type': 'application/json', 'x-echo': String(headers.authorization ?? '') })
    response.end(JSON.stringify(echo))
  })
  api = await startApi({ ALLOW_PRIVATE_HOSTS: `127.0.0.1:${outside.port}`, ENCRYPTION_KEY, LOG_LEVEL: 'trace' })
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-admin-'))
  for (const [name, value] of Object.entries(SECRETS)) {
    const set = await admin(['vault', 'set', '--name', name], value)
    expect(set).toMatchObject({ name, created: true })
  }
})
afterAll(async () => {
  await api.stop()
  await outside.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The administrator's command, beside the running service. */
async function admin(args: string[], input?: string): Promise<unknown> {
  const env = { ...process.env, DATABASE_URL: api.database.url, ENCRYPTION_KEY, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' }
  const all = [
    '--import',
    'tsx',
    '--conditions=react-server',
    'cli/admin.ts',
    ...args,
    '--tenant',
    api.tenantId,
    '--json',
  ]
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, all, { cwd: ROOT, env }, (err, stdout, stderr) => {
      answers.push(stdout, stderr)
      if (err) reject(new Error(stderr))
      else resolve(stdout)
    })
    child.stdin?.end(input === undefined ? '' : `${input}\n`)
  })
  return JSON.parse(output)
}

async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await api.call(method, path, body)
  answers.push(JSON.stringify(answer.body), JSON.stringify([...answer.headers]))
  return answer
}

test('no planted secret is in a response, a log, or a row of the database', async () => {
  const url = outside.url
  const bearer = { authorization: 'Bearer ${secrets.BEARER}' }
  const tools: object[] = [
    { kind: 'http', config: { url: `${url}/a`, headers: bearer } },
    { kind: 'http', config: { url: `${url}/a`, headers: bearer, result: 'full' } },
    { kind: 'http', config: { url: `${url}/q?status=404`, query: { key: '${secrets.QUERY}' } } },
    { kind: 'http', config: { url: `${url}/q`, query: { key: '${secrets.QUERY}' }, result: 'text' } },
    {
      kind: 'http',
      config: { url: `${url}/p/\${secrets.BASIC}?status=403`, method: 'POST', body: { k: '${secrets.BASIC}' } },
    },
    { kind: 'http', config: { url: `${url}/p`, method: 'POST', bodyType: 'form', body: { k: '${secrets.QUERY}' } } },
    { kind: 'http', config: { url: 'http://10.0.0.1/${secrets.BASIC}', headers: bearer } },
    {
      kind: 'http',
      config: { url: `${url}/p`, headers: { a: '${secrets.BEARER}' } },
      outputSchema: { type: 'string' },
    },
    { kind: 'mcp', config: { url: `${url}/mcp`, toolName: 'x', headers: { a: '${secrets.MCP}' } } },
    { kind: 'mcp', config: { url: `${url}/mcp?fail`, toolName: 'x', headers: { a: '${secrets.MCP}' } } },
  ]
  const steps = []
  for (const [i, tool] of tools.entries()) {
    const { body } = await call('POST', '/api/tools', { name: `T${i}`, ...tool })
    const { status } = await call('POST', `/api/tools/${body.id}/invoke`, { args: {} })
    expect(status).toBe(200)
    await call('GET', `/api/tools/${body.id}`)
    steps.push({ id: `s${i}`, type: 'call-tool', toolId: body.id, saveAs: `r${i}` })
  }
  // In runs too: the record of each step, its error, and the run's data.
  for (const step of steps) {
    const { body } = await call('POST', '/api/workflows', { name: step.id, steps: [step] })
    const started = await call('POST', `/api/workflow/start/${body.id}`, {})
    expect(['completed', 'failed']).toContain(started.body.status)
    await call('GET', `/api/workflow/status/${started.body.runId}`)
  }
  // A script, an argument and a step's own template reach no secret.
  const script = await call('POST', '/api/tools', {
    name: 'S',
    kind: 'script',
    config: { code: 'return "${secrets.MCP}"' },
  })
  expect((await call('POST', `/api/tools/${script.body.id}/invoke`, {})).body.data).toBe('${secrets.MCP}')
  const template = { id: 't', type: 'end-flow', output: { x: '${secrets.MCP}' } }
  const elsewhere = await call('POST', '/api/workflows', { name: 'E', steps: [template] })
  const refused = await call('POST', `/api/workflow/start/${elsewhere.body.id}`, {})
  expect(refused.body.status).not.toBe('completed')
  await call('POST', '/api/tools/mcp/list', { url: `${url}/mcp`, headers: { a: '${secrets.MCP}' } })
  expect(await admin(['vault', 'list'])).toHaveLength(4)

  // All of them were really sent, else nothing is shown by their absence.
  const sent = JSON.stringify(outside.seen.map(({ url, headers, body }) => [decodeURIComponent(url), headers, body]))
  for (const secret of Object.values(SECRETS)) expect(sent).toContain(secret)
  expect(answers.join('\n')).toContain('***')

  const tables = await api.database.sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`
  expect(tables.length).toBeGreaterThan(10)
  const rows: string[] = []
  for (const { name } of tables) {
    const found = await api.database.sql.unsafe(`select t::text as row from ${name} t`)
    rows.push(...found.map(({ row }) => String(row)))
  }
  expect(rows.length).toBeGreaterThan(50)
  const places = { responses: answers.join('\n'), logs: api.logs(), database: rows.join('\n') }
  for (const [place, text] of Object.entries(places)) {
    // Rows show text as Postgres quotes it.
    const plain = text.replaceAll('""', '"').replaceAll('\\\\', '\\')
    for (const way of ways) expect(`${place}: ${text.includes(way) || plain.includes(way)}`).toBe(`${place}: false`)
  }

  expect(await admin(['vault', 'delete', '--name', 'MCP'])).toEqual({ name: 'MCP', deleted: true })
  const [last] = (await call('GET', '/api/tools?search=T9')).body
  expect((await call('POST', `/api/tools/${last.id}/invoke`, {})).body).toMatchObject({
    success: false,
    error: { code: 'SECRET_MISSING', message: 'The vault has no secret MCP.' },
  })
})
