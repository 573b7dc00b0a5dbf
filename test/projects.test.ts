import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { files, imports } from './support/imports'
import { projects } from './support/projects.mjs'

const all = projects()

test('every test file runs in exactly one project', () => {
  const known = files.filter((file) => /^test\/.*\.test\.ts$/.test(file))
  expect(Object.values(all).flat().sort()).toEqual(known.sort())
})

test('a unit test opens no database and starts no service', () => {
  const opener =
    /^(postgres|(db\/(index|connect|embedded|migrate|postgres\/.*)|server\/database|instrumentation.*|cli\/(start|web|admin)|test\/support\/(db|postgres|service|api|runtime|global-setup)))$/
  const offenders = imports.filter(
    ({ from, to, typeOnly }) =>
      [...all.check, ...all.unit, ...all['unit alone']].includes(from) && !typeOnly && opener.test(to),
  )
  expect(offenders.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
})

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-projects-'))
})
afterEach(() => rmSync(root, { recursive: true }))

function write(sources: Record<string, string>): void {
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
}

test('a test file’s imports decide its project, including indirect ones', () => {
  write({
    'test/support/postgres.ts': '',
    'test/support/db.ts': "import { databaseUrl } from './postgres'",
    'test/support/service.ts': "import {\n  temporaryDir,\n} from './postgres'",
    'test/support/api.ts': "import { freshDatabase } from './db'\nexport * from './service'",
    'test/a/helper.ts': "import { freshDatabase } from '@/test/support/db'",
    'test/law.test.ts': '',
    'test/a/pure.test.ts': "import { expect } from 'vitest'\nimport { ids } from '@/server/ids'",
    'test/a/setting.test.ts': "process.env.LOG_LEVEL = 'silent'",
    'test/a/typed.test.ts': "import type { Api } from '../support/api'",
    'test/a/stored.test.ts': "import {\n  one,\n  two,\n} from './helper'",
    'test/a/changing.test.ts': "import { one } from './helper'\nprocess.env.LOG_LEVEL = 'silent'",
    'test/a/mocking.test.ts': "import { one } from './helper'\nvi.mock('./other')",
    'test/a/engine.test.ts': "import { one } from './helper'\nconst settings = { INNGEST_EVENT_KEY: 'k' }",
    'test/a/direct.test.ts': "import { openDatabase } from '@/db/index'",
    'test/api/served.test.ts': "import { type Api, startApi } from '../support/api'",
    'test/a/late.test.ts': "const { startApi } = await import('../support/api')",
  })
  expect(projects(root)).toEqual({
    check: ['test/law.test.ts'],
    unit: ['test/a/pure.test.ts', 'test/a/typed.test.ts'],
    'unit alone': ['test/a/setting.test.ts'],
    main: ['test/a/changing.test.ts', 'test/a/direct.test.ts', 'test/a/stored.test.ts'],
    'main alone': ['test/a/engine.test.ts', 'test/a/mocking.test.ts'],
    service: ['test/api/served.test.ts'],
    processes: ['test/a/late.test.ts'],
  })
})

test('a file that shares its process begins as if in a new one', () => {
  const file = `
    import { expect, test } from 'vitest'
    import { state } from './state'
    const name = Symbol.for('millrace.of-a-test')
    test('new modules, nothing in the registry, the same environment and listeners', () => {
      expect([state.uses, Reflect.get(globalThis, name), process.env.OF_A_TEST]).toEqual([0, undefined, undefined])
      expect(process.listenerCount('SIGTERM')).toBe(0)
      state.uses += 1
      Object.assign(globalThis, { [name]: {} })
      process.env.OF_A_TEST = 'changed'
      process.on('SIGTERM', () => {})
    })`
  write({ 'state.ts': 'export const state = { uses: 0 }', 'one.test.ts': file, 'two.test.ts': file })
  const setup = ['fresh-file', 'fresh-modules'].map((name) => join(process.cwd(), `test/support/${name}.ts`))
  const options = `{ isolate: false, maxWorkers: 1, setupFiles: ${JSON.stringify(setup)} }`
  write({ 'vitest.config.mjs': `export default { server: { fs: { strict: false } }, test: ${options} }` })
  symlinkSync(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
  const report = execFileSync(join(root, 'node_modules/.bin/vitest'), ['run', '--root', root, '--reporter=json'], {
    encoding: 'utf8',
  })
  expect(JSON.parse(report)).toMatchObject({ numPassedTests: 2, numFailedTests: 0 })
})
