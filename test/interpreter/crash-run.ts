import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { until } from '../engine/support'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))

interface Life {
  tenantId: string
  workflowId: string
  /** What `crash-child` does with the run. */
  how: string
  /** The write at which it dies; empty for none. */
  at: string
}

/** Processes that run a workflow, and complete it or die at one of their writes. */
export class CrashRuns {
  private readonly children = new Set<ChildProcess>()

  /** @param begins is called before the process starts the run */
  async live({ tenantId, workflowId, how, at }: Life, begins: () => Promise<void> = async () => {}) {
    const args = ['--import', 'tsx', '--conditions=react-server', CHILD, tenantId, workflowId, how]
    const env = { ...process.env, CRASH_AT: at }
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
    this.children.add(child)
    const lives = () => this.children.has(child)
    const dead = once(child, 'exit').then(([, signal]) => {
      this.children.delete(child)
      return signal as NodeJS.Signals | null
    })
    const said: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line))
    const hears = (wanted: string) => until(() => said.includes(wanted) || !lives(), 120_000)
    await hears('ready')
    await begins()
    child.stdin.write('go\n')
    await hears('done')
    const points = lives() ? await pointsOf(child, said, lives) : []
    const died = !lives()
    if (died) expect(await dead, `CRASH_AT="${at}": how it died`).toBe('SIGKILL')
    else {
      await sleep(50)
      child.kill('SIGKILL')
      await dead
    }
    /** What the process said after a word. */
    const after = (word: string) =>
      said.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []))
    return { said, after, died, points }
  }

  stop(): void {
    for (const child of this.children) child.kill('SIGKILL')
  }
}

/** The writes that a process has made. It may die at one after the run is done. */
async function pointsOf(child: ChildProcess, said: string[], lives: () => boolean): Promise<string[]> {
  child.stdin?.write('points\n')
  const named = () => said.at(-1)?.startsWith('[') ?? false
  await until(() => named() || !lives())
  return named() ? (JSON.parse(said.at(-1) ?? '[]') as string[]) : []
}
