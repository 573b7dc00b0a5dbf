import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
    'test/a/direct.test.ts': "import { openDatabase } from '@/db/index'",
    'test/api/served.test.ts': "import { type Api, startApi } from '../support/api'",
    'test/a/late.test.ts': "const { startApi } = await import('../support/api')",
  })
  expect(projects(root)).toEqual({
    check: ['test/law.test.ts'],
    unit: ['test/a/pure.test.ts', 'test/a/typed.test.ts'],
    'unit alone': ['test/a/setting.test.ts'],
    main: ['test/a/direct.test.ts', 'test/a/stored.test.ts'],
    'main alone': ['test/a/changing.test.ts'],
    service: ['test/api/served.test.ts'],
    processes: ['test/a/late.test.ts'],
  })
})
