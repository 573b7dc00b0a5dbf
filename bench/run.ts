import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { compareBuilds } from './against'
import { hangUp } from './drive'
import { type Loopback, startLoopback } from './loopback'
import { type Bench, takeFloor } from './measure'
import { type Millrace, millrace } from './millrace'
import { nodeFromNpm } from './npm-node'
import { type Options, readOptions, USAGE, type Work } from './options'
import { PEER_ROLE, peer } from './peer'
import { installPeers, PEERS } from './peer-install'
import { openCounter, startCounting } from './postgres'
import type { Result } from './results'
import type { Subject } from './subject'
import { markdown, pairedTable } from './table'
import { measureBulk } from './works/bulk'
import { measureFloor } from './works/floor'
import { measureKill } from './works/kill'
import { measureLong } from './works/long'
import { measurePauses } from './works/pauses'
import { measureReads } from './works/reads'
import { measureSync } from './works/sync'
import { measureTurns } from './works/turns'

/**
 * Measures the whole product over HTTP, beside what this machine's Postgres does in the same minute and, on request,
 * beside its peers. Quote the ratios and the counts, not the absolute figures. It talks only to loopback, stops by
 * itself, and removes what it created.
 */
const log = (message: string) => process.stderr.write(`${message}\n`)
const results: Result[] = []
/** Cleanup functions, run in reverse order. */
const undo: (() => unknown)[] = []
let stopping = false

async function main(options: Options): Promise<void> {
  const loopback = await startLoopback()
  undo.push(loopback.stop, hangUp)
  const { against } = options
  if (against !== undefined) {
    const found = await compareBuilds(loopback, { ...options, against }, undo, log)
    process.stdout.write(pairedTable(found))
    return
  }
  const product = millrace(loopback)
  const scratch = options.peers ? await scratchFolder(options) : undefined
  const peers = scratch ? await startPeers(scratch, loopback) : undefined
  for (let round = 1; round <= options.rounds; round++) {
    for (const work of options.works) {
      for (const subject of [product, ...(peers?.subjects ?? [])]) {
        if (stopping) return
        if (work === 'W7' && Object.keys(subject.turns).length === 0) continue
        log(`round ${round}, ${work}, ${subject.name}`)
        await measure(work, subject, product, { options, round, floor: peers?.floor })
      }
    }
  }
}

interface Turn {
  options: Options
  round: number
  /** The URL of a Postgres server for subjects that have none. */
  floor: string | undefined
}

/** One work of one subject. Each starts fresh, so that no work finds another's leftovers. */
async function measure(
  work: Work,
  subject: Subject,
  product: Millrace,
  { options, round, floor }: Turn,
): Promise<void> {
  const down = () => subject.down()
  undo.push(down)
  try {
    await subject.up()
    const postgres = subject.database?.adminUrl ?? floor
    if (!postgres) throw new Error(`${subject.name} has no Postgres to take the floor from`)
    const { seconds, callers, bulk, held, steps, seeded } = options
    const sizes = { seconds, callers, bulk, held, steps, seeded }
    const bench: Bench = { subject, ...sizes, round, postgres, inserts: new Map(), note: noter(options) }
    if (work !== 'W0') await takeFloor(bench, work)
    if (work === 'W0') await measureFloor(bench)
    if (work === 'W1') await measureSync(bench)
    if (work === 'W2') await measureBulk(bench)
    if (work === 'W3') await measurePauses(bench)
    if (work === 'W4') await measureLong(bench)
    if (work === 'W5') await measureKill(bench)
    if (work === 'W7') await measureTurns(bench)
    if (work === 'reads' && subject === product) await measureReads(bench, product)
  } catch (error) {
    // A peer that fails leaves a gap in the table. The product must not.
    if (subject === product) throw error
    log(`${subject.name} failed in ${work}: ${error}`)
  } finally {
    undo.splice(undo.indexOf(down), 1)
    await down()
  }
}

/** Output of lines: standard output is reserved for tables if those are wanted. */
function noter({ markdown }: Options): (result: Result) => void {
  const to = markdown ? process.stderr : process.stdout
  return (result) => {
    results.push(result)
    to.write(`${JSON.stringify(result)}\n`)
  }
}

async function scratchFolder({ scratch }: Options): Promise<string> {
  if (scratch) {
    mkdirSync(scratch, { recursive: true })
    return resolve(scratch)
  }
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-peers-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

async function startPeers(scratch: string, loopback: Loopback): Promise<{ subjects: Subject[]; floor: string }> {
  const node = await installPeers(scratch, log)
  const home = mkdtempSync(join(tmpdir(), 'millrace-bench-pg-'))
  undo.push(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  const postgres = await startCounting(join(home, 'postgres'))
  undo.push(() => postgres.stop())
  const sql = await openCounter(postgres.adminUrl)
  undo.push(() => sql.end({ timeout: 1 }))
  await sql.unsafe(`create role ${PEER_ROLE} login createdb`)
  const host = { scratch, node, loopback, postgres, sql }
  return { subjects: PEERS.map((name) => peer(name, host)), floor: postgres.adminUrl }
}

/** When and on which machine it was measured. */
function heading({ rounds, seconds }: Options): string {
  const [cpu] = cpus()
  const taken = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${seconds} s per rate`
  return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model}, Node ${process.versions.node}, ${taken}.`
}

async function cleanUp(): Promise<void> {
  stopping = true
  for (const step of undo.splice(0).reverse()) await step()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)))
}

/** Runs the bench again on another Node. */
async function onNode(version: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-node-'))
  undo.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  log(`installing Node ${version}`)
  const node = await nodeFromNpm(folder, version)
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_NODE: version },
  })
  undo.push(() => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  process.exitCode = code ?? 1
}

const options = process.argv.includes('--help') ? null : readOptions(process.argv.slice(2))
if (!options) {
  process.stdout.write(USAGE)
} else if (options.node !== undefined && process.env.BENCH_NODE !== options.node) {
  await onNode(options.node).finally(cleanUp)
} else {
  try {
    await main(options)
  } finally {
    await cleanUp()
  }
  if (options.markdown && options.against === undefined)
    process.stdout.write(`${heading(options)}\n\n${markdown(results)}`)
}
