import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { files, source } from './support/imports'

/**
 * Files that insert, update or delete rows of runs, and of the events and messages sent for them. The fewer they are,
 * the fewer have to know the locks, fences and order of a change. `inngest/engine` may always write its own jobs.
 */
const WRITERS: Record<string, Table[]> = {
  'inngest/relay.ts': ['outbox'],
  'server/agents/journal/copy.ts': ['agent_turns', 'agent_calls'],
  'server/agents/journal/given-up.ts': ['agent_turns'],
  'server/agents/journal/held-turn.ts': ['agent_turns'],
  'server/agents/journal/move.ts': ['agent_turns', 'agent_calls'],
  'server/agents/journal/record.ts': ['agent_turns', 'agent_calls'],
  'server/agents/journal/sweep.ts': ['agent_turns'],
  'server/agents/journal/to-run.ts': ['agent_turns', 'agent_calls'],
  'server/talk/place.ts': ['agent_turns'],
  'server/interpreter/write/branches.ts': ['walks', 'scopes'],
  'server/interpreter/write/marks.ts': ['walks', 'step_records', 'pauses'],
  'server/interpreter/write/moves.ts': ['runs', 'walks', 'step_records', 'pauses'],
  'server/interpreter/write/parts.ts': ['runs', 'walks', 'step_records', 'pauses'],
  'server/interpreter/write/request.ts': ['walks'],
  'server/interpreter/write/stops.ts': ['runs', 'walks', 'step_records', 'pauses'],
  'server/interpreter/write/settle-status.ts': ['runs'],
  'server/outbox.ts': ['outbox', 'engine.jobs'],
  // Old runs are deleted, a rerun copies the history that it continues, and a pause is marked as overdue.
  'server/runs/delete-old.ts': ['runs'],
  'server/runs/progress.ts': ['step_records'],
  'server/subjects/delete-runs.ts': ['runs', 'walks', 'step_records', 'pauses', 'scopes', 'agent_turns'],
  // The turns of requests of a subject, which no run or thread has.
  'server/subjects/delete.ts': ['agent_turns'],
  'server/webhooks/overdue.ts': ['pauses'],
}

/** Where Drizzle has each table, and what SQL calls it. */
const TABLES = {
  'db/schema/runs runs': 'runs',
  'db/schema/runs walks': 'walks',
  'db/schema/runs stepRecords': 'step_records',
  'db/schema/runs pauses': 'pauses',
  'db/schema/runs scopes': 'scopes',
  'db/schema/turns agentTurns': 'agent_turns',
  'db/schema/turns agentCalls': 'agent_calls',
  'db/schema/outbox outbox': 'outbox',
  'db/schema/engine jobs': 'engine.jobs',
} as const

type Table = (typeof TABLES)[keyof typeof TABLES]

const drizzleTables = new Map<string, Table>(Object.entries(TABLES))
const known = new Set<string>(Object.values(TABLES))

const IMPORT = /\bimport (?:\* as (\w+)|\{([^}]*)\}) from '([^']+)'/g
/**
 * Another name for one of several tables: `for (const table of [runs, walks])`, `const child = alias(runs, 'child')`.
 */
const RENAMED = /\bconst (\w+) (?:of \[([^\]]*)\]|= (?:alias\()?(\w+)[,)\n])/g
const DRIZZLE = /\.(?:insert|update|delete)\(\s*([\w.]+)\s*,?\s*\)/g
const SQL =
  /\b(?:insert\s+into|(?<!\b(?:for|key)\s+)update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:\$\{([\w.]+)\}|([\w."]+))/gi
/** Lines that are only a comment. */
const COMMENT = /^\s*(\/\/|\/?\*).*$/gm

/** The tables that a file writes, by Drizzle or in a text of SQL. */
function writtenBy(file: string, text: string): Table[] {
  const code = text.replace(COMMENT, '')
  const names = namesIn(file, code)
  const found = new Set<Table>()
  for (const [, name = ''] of code.matchAll(DRIZZLE)) for (const table of names.get(name) ?? []) found.add(table)
  for (const [, name = '', written = ''] of code.matchAll(SQL)) {
    for (const table of names.get(name) ?? []) found.add(table)
    const table = written
      .toLowerCase()
      .replaceAll('"', '')
      .replace(/^public\./, '')
    if (isTable(table)) found.add(table)
  }
  if (file.startsWith('inngest/engine/')) found.delete('engine.jobs')
  return [...found].sort()
}

/** The names that a file uses for the tables. */
function namesIn(file: string, code: string): Map<string, Table[]> {
  const names = new Map<string, Table[]>()
  for (const [, whole, some = '', path = ''] of code.matchAll(IMPORT)) {
    const from = path.startsWith('.') ? normalize(join(dirname(file), path)) : path.replace(/^@\//, '')
    for (const [key, table] of drizzleTables) {
      const [module, name = ''] = key.split(' ')
      if (module !== from) continue
      if (whole) names.set(`${whole}.${name}`, [table])
      for (const part of some.split(',')) {
        const [imported, as = imported] = part.trim().split(' as ')
        if (imported === name) names.set(as ?? name, [table])
      }
    }
  }
  for (const [, name = '', several, one = ''] of code.matchAll(RENAMED)) {
    const tables = (several?.split(',') ?? [one]).flatMap((each) => names.get(each.trim()) ?? [])
    if (tables.length > 0) names.set(name, tables)
  }
  return names
}

function isTable(name: string): name is Table {
  return known.has(name)
}

test('rows of runs are written only by the files that are listed', () => {
  const ours = files.filter((file) => /^(server|inngest|db|app|cli)\//.test(file) && !file.startsWith('db/migrations/'))
  const written = new Map(ours.map((file) => [file, writtenBy(file, source.get(file) ?? '')]))
  const added = [...written].flatMap(([file, tables]) =>
    tables
      .filter((table) => !WRITERS[file]?.includes(table))
      .map(
        (table) =>
          `${file} writes ${table}: let a file that does already write it, or add it to WRITERS if it has to be here.`,
      ),
  )
  const gone = Object.entries(WRITERS).flatMap(([file, tables]) =>
    tables
      .filter((table) => !written.get(file)?.includes(table))
      .map((table) => `${file} no longer writes ${table}: remove it from WRITERS.`),
  )
  expect([...added, ...gone]).toEqual([])
})

const RUNS = "import { runs, walks as threads } from '@/db/schema/runs'\n"

test.each<[string, Table[]]>([
  [`${RUNS}await tx.db.update(runs).set({})`, ['runs']],
  [`${RUNS}await tx.db\n  .delete(\n    threads,\n  )`, ['walks']],
  [`${RUNS}for (const table of [threads, runs]) sql\`delete from \${table}\``, ['runs', 'walks']],
  [`${RUNS}const child = alias(runs, 'child')\ntx.insert(child)`, ['runs']],
  ["import * as schema from '../../db/schema/runs'\ntx.insert(schema.stepRecords)", ['step_records']],
  ["import {\n  jobs,\n} from '@/db/schema/engine'\nsql`insert into ${jobs} (id)`", ['engine.jobs']],
  ['with x as (update runs r set id = 1), y as (DELETE FROM ONLY "pauses" p)', ['pauses', 'runs']],
  ['merge into public.scopes using x; truncate outbox', ['outbox', 'scopes']],
  // Others of the same name, reads, locks and comments.
  ["import { runs } from '@/db/schema/engine'\ntx.update(runs); sql`update engine.runs set id = 1`", []],
  [`${RUNS}tx.select().from(runs).for('update'); seen.delete(walks)`, []],
  ['select 1 from runs for update; select 1 from runs for no key update of runs', []],
  ['// update runs set id = 1\n/** delete from walks */\n * insert into pauses', []],
])('%j', (text, tables) => {
  expect(writtenBy('server/runs/example.ts', text)).toEqual(tables)
})
