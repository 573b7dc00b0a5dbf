import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AS_CODE_COMMANDS } from '@/cli/as-code/commands'
import { pastRunMarkdown } from '@/cli/as-code/past-runs'
import { localWorkspace, remoteWorkspace, type Workspace } from '@/cli/as-code/workspace'
import type { Report } from '@/cli/report'
import { startRun } from '@/server/runs/start'
import { getWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { adminOn } from './support'

// `diff --backtest` and `apply --backtest`: what past runs say of files.

let database: FreshDatabase
let runtime: TestRuntime
const root = mkdtempSync(join(tmpdir(), 'millrace-past-runs-'))
const folder = join(root, 'definitions')
/** Newest first. */
let runIds: string[] = []

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  mkdirSync(join(folder, 'workflows'), { recursive: true })
  write('orders', orders('${n} < 100'))
  await command('apply', { publish: true })
  for (const n of [50, 99, 150]) {
    const { runId } = await startRun(runtime.ctx, { workflowId: 'orders', body: { n, any: 'one' } as never })
    await runtime.wait(runId, undefined, 10_000)
    runIds = [runId, ...runIds]
  }
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(root, { recursive: true, force: true })
})

function write(id: string, text: string): void {
  writeFileSync(join(folder, 'workflows', `${id}.yaml`), text)
}

const orders = (when: string) => `
name: Orders
payload: { n: { type: number }, any: { type: any } }
steps:
  - { id: check, type: condition, when: '${when}' }
  - { id: pay, type: end-flow, output: { paid: true } }
  - { id: refuse, type: end-flow, output: { paid: false } }
edges:
  - { from: check, on: 'true', to: pay }
  - { from: check, on: 'false', to: refuse }
`

function command(
  name: string,
  flags: Record<string, string | boolean>,
  workspace: Workspace = localWorkspace(runtime.ctx),
): Promise<Report> {
  const run = AS_CODE_COMMANDS[name]
  if (!run) throw new Error(`no command ${name}`)
  return run(workspace, { folder, ...flags })
}
const lines = ({ text }: Report) => text.split('\n')

test('diff prints below a workflow what its past runs say, and its exit code that one would fail', async () => {
  write('orders', orders('${n} < 200'))
  write('refunds', orders('${n} < 1'))
  const differs = await command('diff', { publish: true, backtest: '200' })
  expect(differs.code).toBe(2)
  const summary = '  Past runs: 3 of the newest 3. 2 go the same way to the same result. 1 goes another way.'
  const at = lines(differs).indexOf(summary)
  expect(lines(differs).slice(at + 1, at + 3)).toEqual([
    '  - 1: At check, false to refuse becomes true to pay',
    `      ${runIds[0]}`,
  ])
  expect(lines(differs)).toContain('  Past runs: none, because it is new.')
  write('orders', orders('${n'))
  const broken = await command('diff', { publish: true, backtest: '200' })
  expect([broken.code, broken.text]).toEqual([1, expect.not.stringContaining('Past runs')])

  write('orders', orders('${any} * 2 > 1'))
  const fails = await command('diff', { publish: true, backtest: '200' })
  expect(fails.text).toMatch(/- 3: Fails at check: .*\(EXPRESSION_/)
  expect(fails.code).toBe(3)
  expect(lines(fails)).toContain('3 past runs would fail that did not.')
})

test('apply asks past runs first, and changes nothing if one would end as is refused', async () => {
  write('orders', orders('${any} * 2 > 1'))
  const refused = await command('apply', { publish: true, backtest: '200' })
  expect([refused.code, lines(refused).slice(-2)]).toEqual([
    3,
    ['3 past runs would fail that did not.', 'Nothing was applied.'],
  ])
  expect(refused.json).toMatchObject({
    ...{ refused: ['3 past runs would fail that did not.'], backtest: { truncated: false } },
  })
  write('orders', orders('${n} < 200'))
  const strict = await command('apply', { publish: true, backtest: '200', refuse: 'fails, way' })
  expect([strict.code, lines(strict).at(-2)]).toEqual([3, '1 past run would go another way.'])
  await expect(command('apply', { backtest: '200', refuse: 'everything' })).rejects.toThrow(
    '--refuse must be a list of',
  )
  await expect(command('apply', { backtest: '2000' })).rejects.toThrow('--backtest must be a number from 1 to 1000.')
  expect(await getWorkflow(runtime.ctx, { id: 'orders' })).toMatchObject({ version: 1 })
  const applied = await command('apply', { publish: true, backtest: '200' })
  expect([applied.code, applied.text]).toEqual([0, expect.stringContaining('1 goes another way.')])
  expect(lines(applied)).toContain('workflows/orders.yaml  update, publish  (Orders, version 2)')
  expect(applied.json).toMatchObject({ changes: [{ id: 'orders' }, { id: 'refunds' }], backtest: { workflows: [{}] } })
})

test('in a pull request, the answer of another service links to its runs, and no text of a run is a link', async () => {
  write('orders', orders('${n} < 60'))
  write('refunds', orders('${n} < 2'))
  const answers: object[] = []
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    asked.push(`${request.url}`)
    const local = localWorkspace(runtime.ctx)
    const ask = request.url?.endsWith('/diff') ? local.diff : local.backtest
    const found = await ask(JSON.parse(text))
    answers.push(found)
    response.end(JSON.stringify(found))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const remote = remoteWorkspace({ url: `${url}/`, apiKey: 'key', tenantId: undefined, bypass: undefined })
  const markdown = join(root, 'comment.md')
  try {
    const { text } = await command('diff', { publish: true, backtest: '200', markdown }, remote)
    expect(asked).toEqual(['/api/definitions/diff', '/api/definitions/backtest'])
    expect(text).toContain(`      ${url}/r/${runIds[1]}`)
  } finally {
    server.close()
  }
  expect(readFileSync(markdown, 'utf8').split('\n')).toEqual([
    '### Past runs',
    '',
    '**`Orders`** (`workflows/orders.yaml`): 3 of the newest 3. 2 go the same way to the same result. 1 goes another way.',
    '',
    '- **1**: `At check, true to pay becomes false to refuse`',
    `  - [${runIds[1]}](${url}/r/${runIds[1]})`,
    '',
    '**`Orders`** (`workflows/refunds.yaml`): none.',
    '',
  ])
  const [workflow] = Object(answers[1]).workflows
  const message = '`@ada`\n# [here](https://example.com)'
  const verdict = { ...workflow.groups[0].verdict, is: 'fails', at: 'pay', code: 'X', message }
  const workflows = [{ ...workflow, groups: [{ ...workflow.groups[0], verdict }] }]
  expect(pastRunMarkdown({ ...Object(answers[1]), workflows }, (id) => id)).toContain(
    "- **1**: `Fails at pay: '@ada' # [here](https://example.com) (X)`\n",
  )
})

test('as a command of its own process, which finds the database and ends', async () => {
  write('orders', orders('${any} * 2 > 1'))
  const admin = adminOn({ DATABASE_URL: database.url, DATA_DIR: join(root, 'data') })
  const here = ['-f', folder, '--tenant', runtime.ctx.tenantId, '--publish']
  const [diff, few, wrong, help] = await Promise.all([
    admin('diff', ...here, '--backtest', '--json'),
    admin('diff', ...here, '--backtest', '1', '--json'),
    admin('diff', ...here, '--backtest', '0'),
    admin('--help'),
  ])
  expect([diff.code, JSON.parse(diff.stdout).backtest.workflows[0].counts.fails]).toEqual([3, 3])
  expect([few.code, JSON.parse(few.stdout).backtest.workflows[0].sampled.runs]).toEqual([3, 1])
  expect([wrong.code, wrong.stderr]).toEqual([1, '--backtest must be a number from 1 to 1000.\n'])
  expect(help.stdout).toContain('--backtest [200]')
})
