import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRuntime } from '@/instrumentation-node'
import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { cancelRun } from '@/server/runs/cancel'
import { moveRuns } from '@/server/runs/moves/move'
import { sweepReminders } from '@/server/runs/remind'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { terminateRun } from '@/server/runs/terminate'
import { writesIn } from './wire'

/*
 * A whole process that starts a run, answers or stops it and completes it, and kills itself at one of its writes to
 * Postgres: CRASH_AT="insert runs, walks #1 after" node crash-child.ts <tenant> <workflow> <answer, cancel,
 * terminate, remind, move, decide or nothing> `go` on its input makes it begin; it then reports acknowledgements, and `done`. `points` makes it name its
 * writes.
 */
const [tenantId = '', workflowId = '', how = ''] = process.argv.slice(2)
const [, fatal, when] = /^(.* #\d+) (before|after)$/.exec(process.env.CRASH_AT ?? '') ?? []
const say = (line: string) => writeSync(1, `${line}\n`)
const die = () => process.kill(process.pid, 'SIGKILL')

const texts = new WeakMap<Socket, Map<string, string>>()
const counts = new Map<string, number>()
const points: string[] = []
let counting = false

const { connect, write } = Socket.prototype
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  if (JSON.stringify(args).includes('.s.PGSQL')) texts.set(this, new Map())
  return Reflect.apply(connect, this, args) as Socket
} as typeof connect
Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
  const known = texts.get(this)
  const name = known && Buffer.isBuffer(args[0]) ? writesIn(args[0], known) : ''
  if (!counting || name === '') return Reflect.apply(write, this, args) as boolean
  counts.set(name, (counts.get(name) ?? 0) + 1)
  const point = `${name} #${counts.get(name)}`
  points.push(point)
  if (point !== fatal) return Reflect.apply(write, this, args) as boolean
  if (when === 'before') die()
  this.removeAllListeners('data')
  this.on('data', die)
  return Reflect.apply(write, this, args) as boolean
} as typeof write

await startRuntime()
const ctx = systemContext({ tenantId, db: database().db, log: log() })
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'points') say(JSON.stringify(points))
  if (line !== 'go') return
  counting = true
  void live().then(() => say('done'))
})
say('ready')

async function live(): Promise<void> {
  const { runId } = await startRun(ctx, { workflowId, body: {}, ...(how === 'move' ? { version: '1' } : {}) })
  say(`started ${runId}`)
  if (how === 'nothing') return comesTo(runId, 'completed', 'failed')
  await comesTo(runId, 'paused')
  if (how === 'decide') return decideAll(runId)
  if (how === 'remind')
    await sweepReminders({ db: database().db, log: log(), now: () => new Date(Date.now() + 25 * 3_600_000) })
  if (how === 'move') await moveOn(runId)
  if (how === 'answer' || how === 'remind' || how === 'move')
    await resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { n: 1 } } })
  else await (how === 'cancel' ? cancelRun : terminateRun)(ctx, { runId })
  say('acknowledged')
  await comesTo(runId, 'completed', 'failed')
}

/** Moves the run from the first version to the second, which asks its task again. */
async function moveOn(runId: string): Promise<void> {
  for (;;) {
    const { moved } = await moveRuns(ctx, { workflowId, toVersion: 2, runIds: [runId], asksAgain: true })
    if (moved.length > 0) return
    await sleep(20)
  }
}

/** Approves the calls of an agent whose `n` is even, rejects the others, and lets them pass limits, until the run has ended. */
async function decideAll(runId: string): Promise<void> {
  for (;;) {
    const { status, pauseSignals } = await getRunStatus(ctx, { runId })
    if (status === 'completed' || status === 'failed') return
    const [asked] = pauseSignals as { id: string; call?: { args: { n?: unknown } } }[]
    if (!asked) await sleep(20)
    else {
      const actionId = Number(asked.call?.args.n ?? 0) % 2 === 0 ? 'approve' : 'reject'
      await resumeRun(ctx, { runId, body: { type: 'request_user_action', pauseId: asked.id, actionId } })
      say(`acknowledged ${asked.id}`)
    }
  }
}

async function comesTo(runId: string, ...wanted: string[]): Promise<void> {
  while (!wanted.includes((await getRunStatus(ctx, { runId })).status)) await sleep(50)
}
