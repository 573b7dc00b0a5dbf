import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AS_CODE_COMMANDS } from '@/cli/as-code/commands'
import { localWorkspace, remoteWorkspace } from '@/cli/as-code/workspace'
import type { Report } from '@/cli/report'
import { applyDefinitions } from '@/server/as-code/apply'
import type { ServiceContext } from '@/server/context'
import { getWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { workflow, workspace } from '../as-code/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { adminOn } from './support'

let database: FreshDatabase
const root = mkdtempSync(join(tmpdir(), 'millrace-as-code-'))
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database.close()
  rmSync(root, { recursive: true, force: true })
})

/** A command in this process. */
async function run(ctx: ServiceContext, name: string, folder: string, ...flags: string[]): Promise<Report> {
  const command = AS_CODE_COMMANDS[name]
  if (!command) throw new Error(`no command ${name}`)
  const set = Object.fromEntries(flags.map((flag) => [flag, true]))
  return command(localWorkspace(ctx), { folder: join(root, folder), ...set })
}

/** All files of a folder, by path. */
function filesOf(folder: string): Record<string, string> {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const files = paths.filter((path) => path.endsWith('.yaml')).sort()
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, folder, path), 'utf8')]))
}

describe('pull, diff and apply', () => {
  test('bring a workspace to another, whose files are the same, byte for byte', async () => {
    const [one, two] = [await newTenant(database), await newTenant(database)]
    await applyDefinitions(one, {
      ...workspace([workflow('wf_one', { description: 'Two\nlines' })]),
      schedules: [{ id: 'nightly', workflowId: 'wf_one', name: 'Nightly', cron: '0 3 * * *', data: { z: 'x', a: 1 } }],
      inboundWebhooks: [{ id: 'orders', workflowId: 'wf_one', name: 'Orders', scheme: 'none' }],
    })
    expect((await run(one, 'pull', 'one')).text).toContain('6 written, 0 unchanged')
    expect(Object.keys(filesOf('one'))).toEqual([
      'agents/agt_helper.yaml',
      'inboundWebhooks/orders.yaml',
      'schedules/nightly.yaml',
      'tools/tool_clean.yaml',
      'tools/tool_orders.yaml',
      'workflows/wf_one.yaml',
    ])
    const before = await run(two, 'diff', 'one', 'publish')
    expect([before.code, before.text]).toEqual([2, expect.stringContaining('+description: |-\n+  Two\n+  lines')])
    expect((await run(two, 'apply', 'one', 'publish')).text).toContain('workflows/wf_one.yaml  create, publish')
    expect((await run(two, 'diff', 'one', 'publish')).code).toBe(0)
    expect((await run(two, 'apply', 'one', 'publish')).text).toBe('Nothing to do; 6 definitions unchanged.')
    await run(two, 'pull', 'two')
    expect(filesOf('two')).toEqual(filesOf('one'))
  })

  test('leave the files of definitions that the caller may not see, with --prune too', async () => {
    const ctx = await newTenant(database)
    cpSync(join(root, 'one'), join(root, 'seen'), { recursive: true })
    const pull = await run(withRole(ctx, 'viewer'), 'pull', 'seen', 'prune')
    expect(pull.text).toContain('inboundWebhooks/  left as it is')
    expect(Object.keys(filesOf('seen'))).toEqual(['inboundWebhooks/orders.yaml'])
    await run(ctx, 'pull', 'seen', 'prune')
    expect(filesOf('seen')).toEqual({})
  })

  test('name the file and its problem, and change nothing', async () => {
    const ctx = await newTenant(database)
    await applyDefinitions(ctx, workspace())
    await run(ctx, 'pull', 'wrong')
    await updateWorkflow(ctx, { id: 'wf_one', body: { name: 'By hand' } })
    const drifted = await run(ctx, 'diff', 'wrong')
    expect([drifted.code, drifted.text]).toEqual([
      1,
      expect.stringContaining('refused: workflows/wf_one.yaml: Version 2'),
    ])
    await expect(run(ctx, 'apply', 'wrong')).rejects.toThrow(
      /^The workspace has changes that were not applied\n {2}workflows\/wf_one.yaml: .*\n.*--force/,
    )
    const file = join(root, 'wrong/workflows/wf_one.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('to: end', 'to: nowhere'))
    await expect(run(ctx, 'apply', 'wrong', 'force', 'publish')).rejects.toThrow(
      'workflows/wf_one.yaml: step ask, edges[1].to: The edge from ask to nowhere',
    )
    expect((await getWorkflow(ctx, { id: 'wf_one' })).name).toBe('By hand')
  })

  test('take no id of another service on trust', async () => {
    const answer = (id: unknown) => ({ tools: [{ id, name: 'X' }], agents: [], workflows: [], next: null })
    let id: unknown = '../../outside/pwned'
    const server = createServer((_request, response) => response.end(JSON.stringify(answer(id))))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const remote = { url: `http://127.0.0.1:${port}`, apiKey: 'key', tenantId: undefined, bypass: undefined }
    const pull = () => AS_CODE_COMMANDS.pull?.(remoteWorkspace(remote), { folder: join(root, 'remote') })
    try {
      await expect(pull()).rejects.toThrow('see tools[0].id')
      id = 7
      await expect(pull()).rejects.toThrow('see tools[0].id')
      expect(existsSync(join(root, 'remote'))).toBe(false)
      id = 'fine'
      expect((await pull())?.text).toContain('1 written')
    } finally {
      server.close()
    }
  })

  test('send an earlier service no kind that it does not know, as long as the folder has none of it', async () => {
    const bodies: Record<string, unknown>[] = []
    const server = createServer(async (request, response) => {
      let text = ''
      for await (const chunk of request) text += chunk
      bodies.push(JSON.parse(text))
      response.end(JSON.stringify({ changes: [], unchanged: 1, warnings: [] }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const remote = { url: `http://127.0.0.1:${port}`, apiKey: 'key', tenantId: undefined, bypass: undefined }
    const apply = () => AS_CODE_COMMANDS.apply?.(remoteWorkspace(remote), { folder: join(root, 'earlier') })
    try {
      cpSync(join(root, 'one'), join(root, 'earlier'), { recursive: true })
      await apply()
      for (const kind of ['schedules', 'inboundWebhooks']) rmSync(join(root, 'earlier', kind), { recursive: true })
      await apply()
      const old = ['tools', 'agents', 'workflows', 'publish', 'prune', 'force']
      expect(bodies.map((body) => Object.keys(body).sort())).toEqual([
        [...old, 'schedules', 'inboundWebhooks'].sort(),
        old.sort(),
      ])
    } finally {
      server.close()
    }
  })

  test('are commands that scripts can distinguish by their exit codes', async () => {
    const { tenantId } = await newTenant(database)
    const admin = adminOn({ DATABASE_URL: database.url, DATA_DIR: join(root, 'data') })
    const here = ['-f', join(root, 'one'), '--tenant', tenantId]
    const [changes, unknown, nowhere] = await Promise.all([
      admin('diff', ...here, '--publish', '--json'),
      admin('diff', '--tenant', tenantId),
      admin('apply', '-f', join(root, 'nowhere'), '--tenant', tenantId),
    ])
    expect([changes.code, JSON.parse(changes.stdout).changes.length]).toEqual([2, 6])
    expect([unknown.code, unknown.stderr]).toEqual([1, '-f is missing: the folder of the files.\n'])
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('There are no definitions in')])
  })
})
