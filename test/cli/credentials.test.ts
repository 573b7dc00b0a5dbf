import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { credentialsFile, draftCredentials, settleCredentials } from '@/cli/credentials'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-credentials-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const nothing = { tenantId: undefined, apiKey: undefined }
const at = (baseUrl: string, tenantId: string, created: boolean) => ({ baseUrl, tenantId, created })
const kept = () => JSON.parse(readFileSync(credentialsFile(dataDir), 'utf8')) as Record<string, string>

test('the first boot’s key is kept in a private file, and later boots only update the address', () => {
  const first = draftCredentials(dataDir, nothing)
  settleCredentials(dataDir, first, at('http://localhost:3000', first.tenantId, true))
  expect(kept()).toEqual({ baseUrl: 'http://localhost:3000', tenantId: first.tenantId, apiKey: first.apiKey })
  expect(statSync(credentialsFile(dataDir)).mode & 0o777).toBe(0o600)

  const second = draftCredentials(dataDir, nothing)
  settleCredentials(dataDir, second, at('http://localhost:3001', first.tenantId, false))
  expect(kept()).toEqual({ baseUrl: 'http://localhost:3001', tenantId: first.tenantId, apiKey: first.apiKey })
  expect(existsSync(`${credentialsFile(dataDir)}.new`)).toBe(false)
})

test('a first boot that dies before or after the database stored the key does not lose it', () => {
  const died = draftCredentials(dataDir, nothing)
  const before = draftCredentials(dataDir, nothing)
  expect(before).toMatchObject({ tenantId: died.tenantId, apiKey: died.apiKey })
  settleCredentials(dataDir, before, at('http://localhost:3000', died.tenantId, false)) // the database had stored it
  expect(kept().apiKey).toBe(died.apiKey)
})

test('a database with existing tenants leaves no credentials here', () => {
  const draft = draftCredentials(dataDir, nothing)
  settleCredentials(dataDir, draft, at('http://localhost:3000', 'ten_other', false))
  const named = draftCredentials(dataDir, { tenantId: 'ten_other', apiKey: undefined })
  settleCredentials(dataDir, named, at('http://localhost:3000', 'ten_other', false))
  expect(existsSync(credentialsFile(dataDir))).toBe(false)
})
