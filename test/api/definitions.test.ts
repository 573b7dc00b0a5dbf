import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { adminOn } from '../cli/support'
import { type Api, startApi } from '../support/api'
import { newTenant, withRole } from '../support/tenant'

let api: Api
const folder = mkdtempSync(join(tmpdir(), 'millrace-remote-'))
beforeAll(async () => {
  api = await startApi()
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('a machine with only a key pulls, compares and applies', async () => {
  const settings = { DATABASE_URL: '', DATA_DIR: join(folder, 'none'), DEFINITIONS_URL: api.url }
  const editor = adminOn({ ...settings, DEFINITIONS_KEY: api.apiKey })
  const files = join(folder, 'files')
  expect((await editor('pull', '-f', files)).code).toBe(0)
  const hello = join(files, 'workflows/wf_hello.yaml')
  expect((await editor('diff', '-f', files)).code).toBe(0)
  expect((await editor('apply', '-f', files)).stdout).toContain('Nothing to do')
  writeFileSync(hello, readFileSync(hello, 'utf8').replace('name: Hello', 'name: Good morning'))
  const diff = await editor('diff', '-f', files, '--publish')
  expect([diff.code, diff.stdout]).toEqual([2, expect.stringContaining('-name: Hello\n+name: Good morning')])
  const applied = JSON.parse((await editor('apply', '-f', files, '--publish', '--json')).stdout)
  expect(applied.changes).toMatchObject([{ id: 'wf_hello', actions: ['update', 'publish'] }])
  expect((await api.call('GET', '/api/workflows/wf_hello')).body).toMatchObject({
    name: 'Good morning',
    hasUnpublishedChanges: false,
  })

  const owner = { ...withRole(await newTenant(api.database), 'owner'), tenantId: api.tenantId }
  const { key } = await createApiKey(owner, { name: 'viewer', role: 'viewer' })
  const viewer = adminOn({ ...settings, DEFINITIONS_KEY: key })
  expect((await viewer('pull', '-f', files)).code).toBe(0)
  const refused = await viewer('apply', '-f', files)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Forbidden (403 from')])
  expect((await viewer('diff', '-f', files, '--key', 'sk_wrong_wrong_wrong')).stderr).toContain(
    'Unauthorized (401 from',
  )
  expect((await viewer('pull', '-f', files, '--url', 'http://127.0.0.1:9')).stderr).toContain('could not be reached')
})
