import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminOn } from '../cli/support'
import { commands, named } from '../docs/commands'
import { type Api, startApi } from '../support/api'

// The documentation's commands that call a service, sent unchanged: `test/docs/commands.test.ts` reads the others.

let api: Api
const folder = mkdtempSync(join(tmpdir(), 'millrace-documented-'))
beforeAll(async () => {
  // The settings from "A model server of your own".
  api = await startApi({ ALLOW_PRIVATE_HOSTS: '10.0.0.8:11434' })
})
afterAll(async () => {
  await api.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The addresses of the documentation's services. */
const EXAMPLES = /^(\$URL|http:\/\/localhost:3000|https:\/\/millrace\.example\.com)/

const calls = commands.filter(({ words: [program] }) => program === 'curl')

test('the documentation has calls', () => {
  expect(calls.length).toBeGreaterThanOrEqual(5)
})

test.each(calls.map((call) => [named(call), call] as const))('%s', async (_name, { words }) => {
  const headers = new Headers({ accept: '*/*' })
  let [url, method, body]: (string | undefined)[] = []
  for (let i = 1; i < words.length; i++) {
    const word = words[i] ?? ''
    if (word === '-s' || word === '-N') continue
    if (!word.startsWith('-')) url = word
    else {
      const value = (words[++i] ?? '').replace('$API_KEY', api.apiKey).replace('$TENANT_ID', api.tenantId)
      if (word === '-X') method = value
      else if (word === '-d') body = value
      else if (word === '-H') headers.set(value.split(': ', 1)[0] ?? '', value.replace(/^[^:]*: /, ''))
      else throw new Error(`This test does not know what ${word} means.`)
    }
  }
  expect(url).toMatch(EXAMPLES)
  const request = { headers, ...(method === undefined ? {} : { method }), ...(body === undefined ? {} : { body }) }
  const response = await fetch((url ?? '').replace(EXAMPLES, api.url), request)
  expect(await response.text()).not.toBe('')
  expect(response.status).toBeLessThan(300)
})

test('the README pulls definitions into files, and they equal the workspace’s', async () => {
  const admin = adminOn({ DATABASE_URL: api.database.url, LOG_LEVEL: 'error' })
  const pull = commands.find(({ page, words }) => page === 'README.md' && words.includes('pull'))
  const args = pull?.words.slice(pull.words.indexOf('pull')) ?? []
  const words = args.map((word) => word.replace('$TENANT_ID', api.tenantId).replace('definitions', folder))
  const { code, stderr } = await admin(...words)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(readdirSync(join(folder, 'workflows'))).toContain('wf_hello.yaml')
  expect((await admin('diff', ...words.slice(1))).code).toBe(0)
})

test.each(['admin', 'bench', 'bench:scale', 'soak'])('npm run %s tells its options', (script) => {
  const told = execFileSync('npm', ['run', '-s', script, '--', '--help'], { encoding: 'utf8' })
  expect(told).toMatch(/--\w+/)
})
