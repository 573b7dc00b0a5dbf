import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
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
