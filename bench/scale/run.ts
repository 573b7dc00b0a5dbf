import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { migrate } from '@/db/migrate'
import type { Sql } from '@/db/types'
import { openDriver } from '@/db/url'
import { measureCommits } from './commits'
import { type Measured, measureVerbs, type Where } from './measure'
import { readScaleOptions, type ScaleOptions, USAGE } from './options'
import { type Crowd, type Outcome, randomFrom, simulatePlaces } from './places'
import { seed } from './seed'
import { startServer } from './server'
import { commitsTable, placesTable, table } from './table'

/**
 * Seeds very many runs into a Postgres of its own, divided by time and workspace as docs/scale.md proposes, and has the
 * product read them. It needs no built product and no network, and removes what it created unless `--folder` is given.
 */
const log = (text: string) => process.stderr.write(`${text}\n`)
const undo: (() => unknown)[] = []

async function main(options: ScaleOptions): Promise<void> {
  const folder = folderOf(options)
  const where: Where = { folder, server: await startServer(folder) }
  undo.push(() => where.server.stop())
  await migrate(where.server.url)
  const [cpu] = cpus()
  const texts = [`${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpu?.model}.`]
  const note = (result: object) =>
    (options.markdown ? process.stderr : process.stdout).write(`${JSON.stringify(result)}\n`)
  if (options.works.includes('commits')) {
    const commits = await measureCommits(join(folder, 'commits'))
    for (const one of commits) note(one)
    texts.push(commitsTable(commits))
  }
  if (options.works.includes('places')) texts.push(await measurePlaces(where.server.url, note))
  if (options.works.includes('reads')) texts.push(await measureReads(where, options, note))
  if (options.markdown) process.stdout.write(`${texts.join('\n\n')}\n`)
}

async function measureReads(where: Where, options: ScaleOptions, note: (result: object) => void): Promise<string> {
  const sql = openDriver(where.server.url, { max: 1 })
  const size = await seedOnce(sql, options).finally(() => sql.end())
  const results: Measured[] = []
  const ranks = [...new Set([1, Math.ceil(options.tenants / 10), options.tenants])]
  await measureVerbs(where, ranks, options, (measured) => {
    results.push(measured)
    note({ ...measured, plans: measured.plans.map(({ statement, text, tables, ...plan }) => plan) })
  })
  return `${size}\n\n${table(results)}`
}

/** A place does 10 runs a second, so all of them do a few hundred. */
async function measurePlaces(url: string, note: (result: object) => void): Promise<string> {
  const sql = openDriver(url, { max: 3 })
  const outcomes: { crowd: Crowd; outcome: Outcome }[] = []
  for (const busy of [10, 60, 100, 300, 600, 900]) {
    const crowd = { busy, quiet: 1_000 - busy, queued: Math.ceil(15_000 / busy), everyS: 30, seconds: 20, runMs: 100 }
    const outcome = await simulatePlaces(sql, crowd, randomFrom(7))
    outcomes.push({ crowd, outcome })
    note({ crowd, outcome })
  }
  await sql.end()
  return placesTable(outcomes)
}

function folderOf({ folder }: ScaleOptions): string {
  if (folder) {
    mkdirSync(folder, { recursive: true })
    return resolve(folder)
  }
  const made = mkdtempSync(join(tmpdir(), 'millrace-bench-scale-'))
  undo.push(() => rmSync(made, { recursive: true, force: true, maxRetries: 5 }))
  return made
}

/** @returns a sentence about the seeded data */
async function seedOnce(sql: Sql, options: ScaleOptions): Promise<string> {
  const [there] = await sql`select to_regclass('scale.shares') as name`
  if (there?.name === null) {
    const seeded = await seed(sql, options, new Date(), log)
    log(`${seeded.runs} runs in ${seeded.minutes.toFixed(1)} minutes${seeded.stopped ? ', when time was up' : ''}`)
  }
  const [size] = await sql<{ runs: string; bytes: string; parts: number }[]>`
    select (select count(*) from runs) as runs, pg_database_size(current_database()) as bytes,
      (select count(*)::int from pg_partition_tree('runs') where isleaf) as parts`
  return `${Number(size?.runs).toLocaleString('en')} runs in ${Math.max(1, size?.parts ?? 0)} partitions, ${Math.round(Number(size?.bytes) / 1e9)} GB.`
}

async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)))

const options = process.argv.includes('--help') ? null : readScaleOptions(process.argv.slice(2))
if (!options) process.stdout.write(USAGE)
else await main(options).finally(cleanUp)
