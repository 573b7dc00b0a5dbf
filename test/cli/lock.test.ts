import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { claimDataDir, markStopping, patienceMs, writeRunFile } from '@/cli/data-dir'
import { acquireLock } from '@/cli/lock'
import { refOf } from '@/cli/processes'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const homes: string[] = []
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true })
})

function path(): string {
  const home = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
  homes.push(home)
  return join(home, 'it.lock')
}

test('a lock has one owner, whom others can see, until it is released', () => {
  const file = path()
  const mine = acquireLock(file)
  if (!('release' in mine)) throw new Error('it was free')
  expect(acquireLock(file)).toEqual({ owner: refOf(process.pid) })
  mine.release()
  expect(existsSync(file)).toBe(false)
  expect('release' in acquireLock(file)).toBe(true)
})

test('a lock of a dead process, of a reused process number or without an owner is taken over', () => {
  for (const content of [
    JSON.stringify({ pid: 4_194_301, startedAt: 'x' }),
    JSON.stringify({ ...refOf(process.pid), startedAt: 'another time' }),
    'half a li',
    '',
  ]) {
    const file = path()
    writeFileSync(file, content)
    expect('release' in acquireLock(file)).toBe(true)
    expect(readdirSync(join(file, '..'))).toEqual(['it.lock'])
  }
})

test('of many processes that find a dead owner’s lock, one takes it', async () => {
  const file = path()
  writeFileSync(file, JSON.stringify({ pid: 4_194_301, startedAt: 'x' }))
  const script = `
    import { acquireLock } from '@/cli/lock'
    console.log('release' in acquireLock(${JSON.stringify(file)}) ? 'taken' : 'refused')
    process.stdin.resume()`
  const children = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { cwd: ROOT, stdio: 'pipe' }),
  )
  const answers = await Promise.all(
    children.map(
      (child) => new Promise<string>((done) => child.stdout.once('data', (text) => done(String(text).trim()))),
    ),
  )
  for (const child of children) child.kill()
  expect(answers.filter((answer) => answer === 'taken')).toHaveLength(1)
})

test('a start waits for a launcher that is stopping, however long its delay is, and not for one that runs', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
  homes.push(dataDir)
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'])
  try {
    const launcher = refOf(other.pid ?? 0)
    writeFileSync(join(dataDir, 'run.lock'), JSON.stringify(launcher))
    writeRunFile(dataDir, { url: 'http://localhost:1', launcher, web: launcher })
    await expect(claimDataDir(dataDir)).rejects.toThrow(/already runs on .* at http:\/\/localhost:1/)
    markStopping(dataDir, 60_000)
    const claiming = claimDataDir(dataDir)
    // Longer than it waits for one that runs.
    await expect(Promise.race([claiming, sleep(1_500, 'waiting')])).resolves.toBe('waiting')
    other.kill()
    const { release, previous } = await claiming
    expect(previous?.stopping).toBe(60_000)
    release()
  } finally {
    other.kill()
  }
  expect(patienceMs({ stopping: 60_000 })).toBeGreaterThan(60_000)
  expect(patienceMs({ stopping: true })).toBeGreaterThan(30_000)
  expect(patienceMs({})).toBeLessThan(2_000)
})
