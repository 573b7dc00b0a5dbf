import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { print } from '@/cli/print'
import { type Counts, NOTHING, oneFailure } from './counts'

/** Built as Vercel does it, so it must need no setting. */
export const BUILD_ENV = { VERCEL: '1' }

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Runs a program from `node_modules` to its end. Several run concurrently, so each output line starts with `name`. */
export function run(name: string, program: string, args: string[], env = process.env): Promise<number | null> {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}
  const child = spawn(join(ROOT, 'node_modules/.bin', program), args, {
    cwd: ROOT,
    env: { ...env, ...colour },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  relay(name, child)
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', done)
  })
}

function relay(name: string, child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => print(line === '' ? '' : `${name} | ${line}`))
  }
}

/** A program that counts as one test: it finds nothing, or fails. */
export async function check(name: string, program: string, args: string[]): Promise<Counts> {
  const from = Date.now()
  const code = await run(name, program, args)
  print(`${name}: ${code === 0 ? 'clean' : 'NOT clean'} (${seconds(from)})`)
  return code === 0 ? { ...NOTHING, passed: 1 } : oneFailure(`${name}: not clean`)
}

export const types = () => check('types', 'tsc', ['--noEmit'])
export const lint = () => check('lint', 'biome', ['check', '.'])

/** The time since `from`. */
export function seconds(from: number): string {
  return `${((Date.now() - from) / 1000).toFixed(0)} s`
}
