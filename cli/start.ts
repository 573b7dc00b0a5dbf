import { surviveLostOutput } from './common.mjs'
import { checkNode } from './node-version'
import { CannotStart, print, printError } from './print'

async function main(): Promise<void> {
  surviveLostOutput()
  const has = (flag: string) => process.argv.includes(flag)
  const flags = { dev: has('--dev'), json: has('--json'), verbose: has('--verbose') }
  if (process.argv.includes('--worker')) process.env.ENGINE = 'worker'
  const stop = new AbortController()
  // Holds this process open between the end of one child process and the start of the next.
  setInterval(() => {}, 2 ** 30)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  whenOrphaned(() => stop.abort())
  try {
    const unmaintained = checkNode(process.versions.node)
    if (unmaintained) printError(unmaintained)
    // Imported after the check, because an older Node may fail to parse it.
    const { loadDotEnv } = await import('./dot-env')
    loadDotEnv(flags.dev)
    const { readEnv } = await import('@/server/env')
    const env = readEnv(process.env)
    const { launch } = env.ENGINE === 'worker' ? await import('./worker') : await import('./launcher')
    await launch(env, flags, stop.signal)
    if (!flags.json) print('\n  Stopped.')
    process.exit(0)
  } catch (error) {
    const expected = error instanceof CannotStart || (error instanceof Error && error.name === 'EnvError')
    const message = error instanceof Error ? error.message : String(error)
    printError(expected ? message : `Millrace could not start: ${message}`)
    // A stack trace only helps when debugging.
    if (!expected && process.env.LOG_LEVEL === 'debug' && error instanceof Error) printError(error.stack ?? '')
    if (flags.json) print(JSON.stringify({ event: 'failed', message }))
    process.exit(1)
  }
}

/**
 * Calls `act` when the parent has gone. A parent with an IPC channel may die without stopping this process; and `npm
 * start` sends SIGTERM only to the shell in between, which dies without notifying its child.
 */
function whenOrphaned(act: () => void): void {
  process.on('disconnect', act)
  const parent = process.ppid
  if (!process.env.npm_lifecycle_event || process.platform === 'win32') return
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act()
  }, 100)
}

void main()
