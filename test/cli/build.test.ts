import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ensureBuild } from '@/cli/build'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-build-'))
  const next = join(root, 'node_modules/next/dist/bin')
  mkdirSync(next, { recursive: true })
  // A fake build that leaves the same files as `next build`, counts its runs, and takes long enough to be observed half
  // done.
  writeFileSync(
    join(next, 'next'),
    `const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs')
     appendFileSync('builds', '.')
     console.log('Route (app)')
     if (existsSync('broken')) { console.error('cannot compile page.tsx'); process.exit(1) }
     setTimeout(() => { mkdirSync('.next', { recursive: true }); writeFileSync('.next/BUILD_ID', 'x') }, 300)`,
  )
  writeFileSync(join(root, 'node_modules/next/package.json'), '{"name":"next"}')
  writeFileSync(join(root, 'package.json'), '{}')
  mkdirSync(join(root, 'app/deep'), { recursive: true })
  writeFileSync(join(root, 'app/deep/page.tsx'), 'one')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const ensure = () => ensureBuild({ root, log: () => {} })
const builds = () => (existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0)

test('the app is built once, and again when a source changes, appears or disappears', async () => {
  await ensure()
  await ensure()
  expect(builds()).toBe(1)
  writeFileSync(join(root, 'app/deep/page.tsx'), 'two')
  await ensure()
  await ensure()
  expect(builds()).toBe(2)
  writeFileSync(join(root, 'app/new.tsx'), '')
  await ensure()
  rmSync(join(root, 'app/new.tsx'))
  await ensure()
  expect(builds()).toBe(4)
})

test('files outside the app, or a new date on the same source, do not make a build stale', async () => {
  await ensure()
  mkdirSync(join(root, 'test'))
  writeFileSync(join(root, 'test/x.test.ts'), '')
  writeFileSync(join(root, 'README.md'), '')
  writeFileSync(join(root, 'app/README.md'), '')
  utimesSync(join(root, 'app/deep/page.tsx'), new Date(), new Date())
  await ensure()
  expect(builds()).toBe(1)
})

test('a build by `npm run build` is used while it is newer than the sources', async () => {
  mkdirSync(join(root, '.next'))
  writeFileSync(join(root, '.next/BUILD_ID'), 'x')
  await ensure()
  expect(builds()).toBe(0)
  rmSync(join(root, '.next'), { recursive: true })
  cpSync(join(root, 'app'), join(root, 'server'), { recursive: true })
  mkdirSync(join(root, '.next'))
  writeFileSync(join(root, '.next/BUILD_ID'), 'x')
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(root, 'server/deep/page.tsx'), later, later)
  await ensure()
  expect(builds()).toBe(1)
})

test('of several processes that need a build at once, one builds and the others wait', async () => {
  await Promise.all([ensure(), ensure(), ensure()])
  expect(builds()).toBe(1)
})

test('a failed build is reported in one sentence, and the next process tries again', async () => {
  writeFileSync(join(root, 'broken'), '')
  await expect(ensure()).rejects.toThrow('The build failed; its output is above.')
  rmSync(join(root, 'broken'))
  await ensure()
  expect(builds()).toBe(2)
})

test('the build’s output is shown only if it fails, and otherwise one line', async () => {
  const shown: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => shown.push(String(text)) > 0)
  const lines: string[] = []
  try {
    await ensureBuild({ root, log: (line) => lines.push(line) })
    expect([shown.join(''), lines.length]).toEqual(['', 1])
    writeFileSync(join(root, 'broken'), '')
    writeFileSync(join(root, 'app/deep/page.tsx'), 'broken')
    await expect(ensure()).rejects.toThrow('The build failed')
    expect(shown.join('')).toContain('cannot compile page.tsx')
  } finally {
    spy.mockRestore()
  }
})
