import { type BatchStatement, batchStatement } from '@/db/index'
import { ALWAYS, COLUMNS, x } from './columns'
import { KNOWN_CALLER } from './fences'
import type { Changes, Part } from './types'

const known = new Map<string, BatchStatement>()

/**
 * The statement that makes some changes. Each list of changes has one text, so that Postgres prepares it once. Their
 * names stand at its end, for tools that list statements; `npm run sql` prints it.
 * The parts do not see each other's writes, and never write the same row. They read the rows of the fence without
 * joining them: Postgres would compare each row with every other.
 */
export function statementOf(changes: Changes): BatchStatement {
  const name = nameOf(changes)
  const statement =
    known.get(name) ?? batchStatement(COLUMNS, ALWAYS, (rows, _, locked) => statementText(changes, rows, locked))
  known.set(name, statement)
  return statement
}

function nameOf({ fence, checksKey, parts, outputs }: Changes): string {
  const names = [fence.fence, ...parts.map(({ part }) => part), ...outputs.map(({ output }) => output)]
  return (checksKey ? ['known caller', ...names] : names).join(', ')
}

function statementText(changes: Changes, rows: string, locked: 'skip locked' | ''): string {
  const { fence, checksKey, parts, outputs } = changes
  const waits = ({ after = [] }: Part) => after.filter((part) => parts.includes(part))
  const draws = parts.map((part) => (waits(part).length > 0 ? '' : drawn(part)))
  const changing = parts.map(
    (part) => `,
    ${cteOf(part)} as (${part.text(sourceOf(part, waits(part)))})`,
  )
  const event = parts.find(({ returnsEvent }) => returnsEvent)
  const returned = [event ? 'event.generation' : 'null::text as generation', ...outputs.map(({ text }) => text)]
  return `
    with ${rows}${
      checksKey
        ? `,
    known_caller as (${KNOWN_CALLER})`
        : ''
    },
    fence as materialized (
      select i.* ${draws.join('')} from ${fence.text(checksKey ? 'known_caller i' : 'i', locked)})${changing.join('')}
    select i.ord, ${returned.join(', ')}
    from fence i ${event ? `cross join ${x('event_id')} left join ${cteOf(event)} event on event.event_id = x.event_id` : ''}
    /* ${nameOf(changes)} */`
}

const cteOf = ({ part }: Part) => part.replaceAll(' ', '_')

const drawn = ({ draws }: Part) => (draws ? `, nextval('changes') as ${draws}` : '')

function sourceOf(part: Part, waitsFor: readonly Part[]): string {
  if (waitsFor.length === 0) return 'fence i'
  const written = waitsFor.map((other) => `(select count(*) from ${cteOf(other)}) > 0`)
  return `(select i.* ${drawn(part)} from fence i where ${written.join(' and ')}) i`
}
