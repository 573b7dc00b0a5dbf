import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFromNpm } from '@/bench/npm-node'
import { print } from '@/cli/print'
import { ROOT } from './support/programs'

// `npm run test:node`: tests under another Node than this one, by default the newest that is supported, from npm's own
// packages of Node. Arguments: a version, and a program to run instead of the tests that need no service.

const NEWEST = '24'
const DEFAULT = ['--project', 'check', '--project', 'unit']

const [version = NEWEST, ...selection] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'millrace-node-'))
try {
  const node = await nodeFromNpm(folder, version)
  print(`Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { status } = spawnSync(node, [vitest, 'run', ...(selection.length > 0 ? selection : DEFAULT)], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
