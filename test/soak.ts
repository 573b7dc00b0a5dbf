import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ensureBuild } from '@/cli/build'
import { print, printError } from '@/cli/print'

// `npm run soak`: the scenarios of test/soak, which take too long for `npm test`, one after the other on real
// processes. It prints its seed, ends by itself, and exits with 1 if an invariant was broken. test/soak/rounds.ts
// explains how to add a scenario.

const USAGE = `npm run soak -- [FILTER] [--rounds N] [--seed N]

  FILTER      only scenarios whose name contains it, such as "all three"
  --rounds N  how often each goes round, instead of its own number
  --seed N    repeats the random choices of the run that printed it`

const ROOT = fileURLToPath(new URL('..', import.meta.url))

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string' }, seed: { type: 'string' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    print(USAGE)
    return 0
  }
  const { rounds = '', seed = String(randomInt(2 ** 32 - 1)) } = values
  if (!/^([1-9]\d{0,6})?$/.test(rounds) || !/^\d{1,15}$/.test(seed) || positionals.length > 1) {
    printError(USAGE)
    return 2
  }
  const filter = positionals[0]
  await ensureBuild({ root: ROOT.replace(/\/$/, ''), log: print, output: 'inherit' })
  const startedAt = Date.now()
  print(`seed ${seed}`)
  const args = ['run', '--config', 'vitest.soak.config.ts', '--reporter=verbose']
  if (filter) args.push('-t', filter.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const child = spawn(join(ROOT, 'node_modules/.bin/vitest'), args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, SOAK_SEED: seed, SOAK_ROUNDS: rounds },
  })
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail)
    child.once('exit', (ended) => done(ended ?? 1))
  })
  const again = ['npm run soak --', filter && JSON.stringify(filter), rounds && `--rounds ${rounds}`, `--seed ${seed}`]
  print(`${Math.round((Date.now() - startedAt) / 1_000)} s, seed ${seed}`)
  if (code !== 0) print(`To repeat: ${again.filter(Boolean).join(' ')}`)
  return code
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    printError(error instanceof Error ? error.message : String(error))
    process.exit(1)
  },
)
