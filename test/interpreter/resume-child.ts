import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { startRuntime } from '@/instrumentation-node'
import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { resumeRun } from '@/server/runs/resume'

/*
 * A whole process that answers a paused run, and kills itself at one of its messages to Postgres from then on:
 * node resume-child.ts <tenant> <run> <number of the message, from 1; 0 for none> <before or after it is answered>
 * `go` on its input makes it answer; `count` makes it say how many messages it has sent. It says when it is ready, and
 * when its resume was accepted.
 */
const [tenantId = '', runId = '', fatal = '0', when = ''] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)
const die = () => process.kill(process.pid, 'SIGKILL')

const toPostgres = new WeakSet<Socket>()
let counting = false
let messages = 0

const { connect, write } = Socket.prototype
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  if (JSON.stringify(args).includes('.s.PGSQL')) toPostgres.add(this)
  return Reflect.apply(connect, this, args) as Socket
} as typeof connect
Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
  if (!counting || !toPostgres.has(this) || ++messages !== Number(fatal)) {
    return Reflect.apply(write, this, args) as boolean
  }
  if (when === 'before') die()
  this.removeAllListeners('data')
  this.on('data', die)
  return Reflect.apply(write, this, args) as boolean
} as typeof write

await startRuntime()
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'count') return say(`messages ${messages}`)
  counting = true
  const ctx = systemContext({ tenantId, db: database().db, log: log() })
  void resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { n: 1 } } }).then(() => say('accepted'))
})
say('ready')
