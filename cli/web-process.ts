import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WEB_STOP_MS } from './common.mjs'

/** Messages from the process to this one. A worker has no port. */
export type WebMessage =
  | { type: 'ready'; port?: number }
  | { type: 'failed'; code: string | undefined; message: string }

export interface WebOptions {
  root: string
  dev: boolean
  env: Record<string, string>
  /** The target of its log: stderr if a script reads stdout. */
  output: 'inherit' | 'stderr'
}

export interface WebProcess {
  pid: number
  /** Settles when the process has ended. */
  exited: Promise<void>
  /** Resolves once it listens and its runtime is up. Rejects if it ends first. */
  ready: Promise<void>
  /** Drains it, and kills it after the time limit. */
  stop(limitMs: number): Promise<void>
  kill(): void
}

export class PortTaken extends Error {
  override name = 'PortTaken'
}

/** How long a process may take to end, plus the time for the system to reap it. */
export const EXIT_MS = WEB_STOP_MS + 2_000

/** A signal killed the process while it started; the process itself did not fail. */
export class Killed extends Error {
  override name = 'Killed'
}

/** Starts the process that serves requests and, unless `ENGINE` is `off`, runs the engine. */
export function startWeb(options: WebOptions): WebProcess {
  return startProcess([here('./web.mjs'), ...(options.dev ? ['--dev'] : [])], options)
}

/** Starts the process that only runs the engine. */
export function startWorker(options: Omit<WebOptions, 'dev'>): WebProcess {
  return startProcess(['--import', 'tsx', '--conditions=react-server', here('./worker-process.ts')], {
    ...options,
    dev: false,
  })
}

function here(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}

/**
 * Size in MiB of each of the three parts of the space for new objects. On Node 24 they may otherwise grow twice as
 * large in a burst, and never shrink. They have this size from the start: while they are smaller, more objects outlive
 * them, which costs time and, in the end, more memory.
 */
const NEW_SPACE_MIB = 16

/** Node's flags, unless the operator has set others. */
function memoryOptions(): string[] {
  const told = process.env.NODE_OPTIONS?.includes('semi-space-size') ?? false
  return told ? [] : [`--min-semi-space-size=${NEW_SPACE_MIB}`, `--max-semi-space-size=${NEW_SPACE_MIB}`]
}

/** Starts a process of the service. It ends by itself when this process does. */
function startProcess(args: string[], { root, dev, env, output }: WebOptions): WebProcess {
  const child = spawn(process.execPath, [...memoryOptions(), ...args], {
    cwd: root,
    env: { ...inherited(), ...env, NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', output === 'stderr' ? process.stderr : 'inherit', 'inherit', 'ipc'],
    // In its own process group, so that Ctrl+C reaches only the launcher, which stops everything in order.
    detached: process.platform !== 'win32',
  })
  const exited = new Promise<void>((done) => {
    child.once('exit', () => done())
    child.once('error', () => done())
  })
  const hasExited = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined
  const kill = () => {
    child.kill('SIGKILL')
  }
  return {
    pid: child.pid ?? 0,
    exited,
    ready: firstMessage(child),
    async stop(limitMs) {
      if (hasExited()) return
      child.kill('SIGTERM')
      await Promise.race([exited, sleep(limitMs)])
      if (!hasExited()) kill()
      await exited
    },
    kill,
  }
}

function firstMessage(child: ChildProcess): Promise<void> {
  return new Promise((done, fail) => {
    child.on('message', (message) => {
      const told = message as Partial<WebMessage> // Next sends messages of its own
      if (told.type === 'ready') done()
      if (told.type !== 'failed' || !('message' in told)) return
      fail(told.code === 'EADDRINUSE' ? new PortTaken(told.message) : new Error(told.message))
    })
    child.once('error', fail)
    child.once('exit', (code, signal) => {
      if (signal) fail(new Killed(`${signal} ended it`))
      else fail(new Error(`It ended with code ${code} while it was starting; its output is above.`))
    })
  })
}

/** The launcher's environment without npm's variables. */
function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('npm_'),
  )
  return Object.fromEntries(entries)
}
