import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { acquireLock } from './lock'
import { CannotStart } from './print'

/** The build's inputs, which exclude tests, documents and the launcher. */
const SOURCES = [
  'app',
  'public',
  'server',
  'inngest',
  'db',
  'instrumentation.ts',
  'instrumentation-node.ts',
  'proxy.ts',
  'next.config.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
]
const SKIP = new Set(['migrations', 'node_modules'])

const MAX_SAID = 50_000

interface BuildOptions {
  root: string
  log(message: string): void
  /** Where the builder's own output goes. By default it is shown only if the build fails. */
  output?: 'inherit' | 'stderr'
  signal?: AbortSignal
  /** Added to the build's environment. */
  env?: Record<string, string>
}

/** Builds the app unless `.next` contains a build of exactly these sources. One process builds; others wait for it. */
export async function ensureBuild({ root, log, output, signal, env = {} }: BuildOptions): Promise<void> {
  if (isFresh(root)) return
  const lock = join(root, 'node_modules/.cache/millrace-build.lock')
  for (let told = false; ; told = true) {
    const taken = acquireLock(lock)
    if ('release' in taken) {
      try {
        if (!isFresh(root))
          await build({ root, log, env, ...(output ? { output } : {}), ...(signal ? { signal } : {}) })
        return
      } finally {
        taken.release()
      }
    }
    if (!told) log(`waiting for process ${taken.owner.pid}, which is building`)
    await sleep(250, undefined, signal ? { signal } : {})
    if (isFresh(root)) return
  }
}

async function build({ root, log, output, signal, env }: BuildOptions) {
  log('building; this happens once, and again after the sources change')
  const startedAt = Date.now()
  const hash = hashSources(root)
  const next = createRequire(join(root, 'package.json')).resolve('next/dist/bin/next')
  const child = spawn(process.execPath, [next, 'build'], {
    cwd: root,
    env: { ...process.env, ...env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    stdio: output
      ? ['ignore', output === 'inherit' ? 'inherit' : process.stderr, 'inherit']
      : ['ignore', 'pipe', 'pipe'],
    ...(signal ? { signal, killSignal: 'SIGTERM' } : {}),
  })
  const said = output ? null : lastOf(child)
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', (error) => (signal?.aborted ? done(null) : fail(error)))
    child.once('close', done)
  })
  if (code !== 0) {
    if (said && !signal?.aborted) process.stderr.write(said())
    throw new CannotStart(signal?.aborted ? 'The build was interrupted.' : 'The build failed; its output is above.')
  }
  writeFileSync(stampFile(root), JSON.stringify({ hash }))
  if (output) log(`built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

/** The end of a process's output; the whole may be long and is rarely needed. */
function lastOf({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  for (const stream of [stdout, stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text = (text + more).slice(-MAX_SAID)
    })
  return () => text
}

function isFresh(root: string): boolean {
  const id = join(root, '.next/BUILD_ID')
  if (!existsSync(id)) return false
  if (existsSync(stampFile(root))) {
    const { hash } = JSON.parse(readFileSync(stampFile(root), 'utf8')) as { hash?: string }
    return hash === hashSources(root)
  }
  // `npm run build` leaves no stamp, so fall back to comparing dates once.
  const builtAt = statSync(id).mtimeMs
  if (sourceFiles(root).some((path) => statSync(join(root, path)).mtimeMs > builtAt)) return false
  writeFileSync(stampFile(root), JSON.stringify({ hash: hashSources(root) }))
  return true
}

function stampFile(root: string): string {
  return join(root, '.next/millrace-build.json')
}

function hashSources(root: string): string {
  const hash = createHash('sha256')
  for (const path of sourceFiles(root))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

function sourceFiles(root: string): string[] {
  return SOURCES.filter((path) => existsSync(join(root, path))).flatMap((path) =>
    statSync(join(root, path)).isDirectory() ? filesIn(root, path) : [path],
  )
}

function filesIn(root: string, directory: string): string[] {
  const entries = readdirSync(join(root, directory), { withFileTypes: true })
  return entries
    .filter(({ name }) => !SKIP.has(name) && !/^\.|\.md$/.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${directory}/${entry.name}`
      return entry.isDirectory() ? filesIn(root, path) : [path]
    })
}
