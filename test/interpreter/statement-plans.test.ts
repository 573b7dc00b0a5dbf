import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changesOf, explainable } from '@/server/interpreter/write/explain'
import { statementOf } from '@/server/interpreter/write/statement'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { SHAPES } from './statement-shapes'

// Postgres's plan for each statement that starts and continues runs, to the letter. The text may change; any change of
// the rows read, locked, checked or written shows here. Another version of Postgres may plan, or print, them
// differently.

const GOLDEN = new URL('./statement-plans.golden.txt', import.meta.url)
const HOW =
  'If this is meant to change, write the golden file anew, and read its difference: GOLDEN=write npx vitest run test/interpreter/statement-plans.test.ts'

let database: FreshDatabase

beforeAll(async () => {
  // Large enough for connections of its own for these statements, with their settings.
  database = await freshDatabase({ max: 8 })
  await fill()
})
afterAll(() => database.close())

const ROWS = 1_000

/**
 * While its tables are empty, all indexes cost Postgres the same, and it may use any. When it analyzes a few rows it
 * reads all of them, so the figures are always the same.
 */
async function fill(): Promise<void> {
  const { tenantId } = await newTenant(database)
  await database.sql.begin(async (tx) => {
    await tx`
      insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
      select ${tenantId}, 'w' || n, 'W', '', 'published', 1, 1, 'x', 'x' from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into tools (tenant_id, id, name, description, status, version, published_version)
      select ${tenantId}, 't' || n, 'T', '', 'published', 1, 1 from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into api_keys (tenant_id, id, name, role, hash, hint)
      select ${tenantId}, 'k' || n, 'K', 'editor', 'h' || n, '' from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by, published_at)
      values (${tenantId}, 'w1', 1, 'W', '{}', 'x', now())`
    await tx`
      insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
      select ${tenantId}, 'run_' || n, 'w1', 1, 'W', 'completed', '{}', '{}', 'x', now()
      from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit)
      select ${tenantId}, 'run_' || n, 'main', 1, 1, case when n % 100 = 0 then 'walking' else 'ended' end, 'e', 's', 1
      from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time)
      select ${tenantId}, 'run_' || n % 50 + 1, 'main', 's' || n, 1, 't', 's', 'completed', now()
      from generate_series(1, ${ROWS}::int) n`
    await tx`
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, answered_at, consumed_at)
      select ${tenantId}, 'p' || n, 'run_' || n, 'main', 's', 1, 'collect_inputs', '{}', done, done
      from generate_series(1, ${ROWS}::int) n, lateral (select case when n % 20 <> 0 then now() end) each(done)`
  })
  await database.sql`analyze workflows, tools, api_keys, runs, walks, step_records, pauses`
}

/** A value's position in a row depends on the text, so the column's name replaces it. */
const FIELD = /(?<="row" ->>? )\d+/g
/** The plan does not contain the columns an update sets, or how rows are locked. */
const UPDATE = /(\w+) as \(\s*update \w+ \w+ set (.*?)\sfrom\s/gs
const SET = /(?:^|,)\s*(\w+) = /g
const UPDATED = /^ {2}CTE (\w+)\n {4}-> {2}Update on .*$/gm
const LOCK = /for (no key update|update|share|key share)\b( of \w+)?( skip locked| nowait)?/g

async function planOf(shape: string): Promise<string> {
  const { skipLocked, columns } = statementOf(changesOf(shape.split(', ')))
  const names = [...columns.places.keys()]
  const lines = await database.db.$client.rows.unsafe(`explain (generic_plan, verbose, costs off) ${skipLocked}`)
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n')
  const sets = new Map(
    [...skipLocked.matchAll(UPDATE)].map(([, cte, text = '']) => [
      cte,
      [...text.matchAll(SET)].map(([, name]) => name).sort(),
    ]),
  )
  const locks = (skipLocked.match(LOCK) ?? []).map((lock) => `Lock: ${lock}\n`)
  return (
    locks.join('') +
    plan
      .replace(FIELD, (at) => names[Number(at)] ?? at)
      .replace(UPDATED, (update, cte: string) => `${update}\n          Set: ${sets.get(cte)?.join(', ')}`)
  )
}

/** A part of a plan that several statements share is printed once, under a name derived from its text. */
const PART = /^ {2}CTE (\w+)\n( {4}.*(\n|$))+/gm
const REFERENCE = /^ {2}CTE (\w+ \w{8})$/gm

function goldenOf(plans: Map<string, string>): string {
  const parts = new Map<string, string>()
  const statements = [...plans].map(([shape, plan]) => {
    const short = plan.replace(PART, (part: string, cte: string) => {
      const name = `${cte} ${createHash('sha256').update(part.trimEnd()).digest('hex').slice(0, 8)}`
      parts.set(name, part.trimEnd())
      return `  CTE ${name}\n`
    })
    return `# ${shape}\n${short.trimEnd()}\n`
  })
  const each = [...parts].sort().map(([name, part]) => `# CTE ${name}\n${part}\n`)
  return [...statements, ...each].join('\n')
}

function plansIn(golden: string): Map<string, string> {
  const sections = golden
    .split(/^# /m)
    .slice(1)
    .map((section): [string, string] => {
      const [heading = '', ...lines] = section.trimEnd().split('\n')
      return [heading, lines.join('\n')]
    })
  const parts = new Map(sections.filter(([heading]) => heading.startsWith('CTE ')))
  const whole = (plan: string) => plan.replace(REFERENCE, (_, name: string) => parts.get(`CTE ${name}`) ?? name)
  return new Map(sections.filter(([heading]) => !parts.has(heading)).map(([shape, plan]) => [shape, whole(plan)]))
}

test('the plans of the statements are those of the golden file', async () => {
  const plans = new Map<string, string>()
  for (const shape of SHAPES) plans.set(shape, await planOf(shape))
  if (process.env.GOLDEN === 'write') writeFileSync(GOLDEN, goldenOf(plans))
  const golden = plansIn(readFileSync(GOLDEN, 'utf8'))
  expect([...golden.keys()], HOW).toEqual(SHAPES)
  const changed = SHAPES.filter((shape) => plans.get(shape) !== golden.get(shape))
  // The first one shows the same as the others.
  for (const shape of changed)
    expect(plans.get(shape), `Another plan: ${changed.join('; ')}. ${HOW}`).toBe(golden.get(shape))
})

test('the columns a statement sets and the rows it locks are found in its text', async () => {
  for (const shape of SHAPES) {
    const plan = await planOf(shape)
    expect(plan.match(/^ +Set: \w+(, \w+)*$/gm)?.length, shape).toBe(plan.match(/-> {2}Update on /g)?.length)
    expect(plan.match(/^Lock: /gm)?.length, shape).toBe(plan.match(/-> {2}LockRows$/gm)?.length)
  }
})

test('a statement that waits is the one that skips locked rows, without that', () => {
  for (const shape of SHAPES) {
    const { skipLocked, waitForLock } = statementOf(changesOf(shape.split(', ')))
    expect(skipLocked.replaceAll('skip locked', ''), shape).toBe(waitForLock)
    // A start locks nothing, and a transaction that holds a run has locked it before.
    expect(skipLocked.includes('skip locked'), shape).toBe(!/\b(start|held)\b/.test(shape))
  }
})

test('a statement that is printed with a row can be explained', async () => {
  for (const shape of SHAPES) {
    const [line] = await database.sql.unsafe(`explain ${explainable(shape.split(', '))}`)
    expect(line, shape).toHaveProperty('QUERY PLAN')
  }
  expect(() => explainable(['owner', 'finish'])).toThrow('There is no “finish”')
  expect(() => explainable(['finish visit'])).toThrow('Name one fence')
})
