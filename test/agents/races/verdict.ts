import type { Race, Shot } from './race'
import { amountOf, KINDS, type RaceWorld } from './world'

/**
 * How long after a stop the process that did not handle it may still begin a call; see docs/operations.md, After a run
 * was stopped.
 */
const WINDOW_MS = 1_000
/** The statuses that callers may get instead of 200. */
const REFUSALS = [400, 403, 404, 409]

interface Answered {
  id: string
  answer: { actionId?: string; data?: { amount?: number } } | null
  by: string | null
  via: string | null
  at: Date | null
  votes: { person: string; via: string | null; actionId: string }[] | null
  refused: string[] | null
  decision: { approved: boolean; by: string | null; args?: object } | null
}

/** The findings of one race. */
export interface Verdict {
  /** Violations. */
  problems: string[]
  /** Calls that began after a stop had been acknowledged, within the window. */
  late: number
  /** Calls that were made. */
  made: number
}

/** Compares the responses that callers got with the record of the run, and both with the calls that were made. */
export async function judge(world: RaceWorld, race: Race): Promise<Verdict> {
  const verdict: Verdict = { problems: [], late: 0, made: 0 }
  const say = (problem: string) => verdict.problems.push(`${race.runId} (${race.kind}): ${problem}`)
  for (const { how, status, body } of race.shots)
    if (status !== 200 && !REFUSALS.includes(status)) say(`${how} was told ${status} ${JSON.stringify(body)}`)
  judgeEnd(race, say)
  const rows = await recordOf(world, race)
  for (const [index, id] of race.asked.entries()) {
    const row = rows.find((one) => one.id === id)
    if (!row) {
      say(`${id} is gone`)
      continue
    }
    judgeAnswer(race, row, (problem) => say(`${id}: ${problem}`))
    judgeCalls(world, race, row, index, verdict, (problem) => say(`${id}: ${problem}`))
  }
  const known = race.asked.map((id) => keyOf(race, id))
  const strange = world.paid.filter(({ key }) => key.startsWith(`${race.runId}:`) && !known.includes(key))
  if (strange.length > 0) say(`calls that nobody asked about: ${JSON.stringify(strange)}`)
  return verdict
}

type Say = (problem: string) => void

const keyOf = ({ runId }: Race, pauseId: string) => `${runId}:main:ask:1:${pauseId.split('~')[1]}`

function judgeEnd({ kind, shots, outcome, error }: Race, say: Say): void {
  const stops = shots.filter(({ how, status }) => /cancel|terminate/.test(how) && status === 200)
  const stopped = outcome === 'cancelled' || outcome === 'terminated'
  for (const { how, body } of stops)
    if (!stopped || (body.outcome ?? outcome) !== outcome) say(`a ${how} was told ${body.outcome}: ${outcome}`)
  if (stopped && stops.length === 0) say(`nobody stopped it, and it is ${outcome}`)
  if (!stopped && outcome !== 'succeeded' && !(kind === 'fails' && error === 'TIMED_OUT'))
    say(`the run is ${outcome} (${error})`)
}

function judgeAnswer({ shots, kind }: Race, row: Answered, say: Say): void {
  const own = shots.filter(({ pauseId, status }) => pauseId === row.id && status === 200)
  const undone = own.filter(({ how, body }) => how === 'undo' && body.result.data !== null)
  const given = own.filter(told)
  const votes = 'needs' in KINDS[kind]
  const inRecord = (shot: Shot) => (votes ? isVoteOf(row, shot) : isAnswerOf(row, shot))
  const isUndone = (shot: Shot) => undone.some((one) => one.person === shot.person && isHeld(shot))
  const isRefused = (shot: Shot) => isHeld(shot) && (row.refused ?? []).includes(shot.person ?? '')
  const isSecond = (shot: Shot) => shot.link !== null && given.some((one) => one.link === shot.link && inRecord(one))
  const lost = given.filter((shot) => ![inRecord, isUndone, isRefused, isSecond].some((is) => is(shot)))
  if (lost.length > 0) say(`acknowledged, and not in the record ${JSON.stringify(row)}: ${JSON.stringify(lost)}`)
  const deciding = given.filter((shot) => !isHeld(shot) && (shot.link === null || inRecord(shot)))
  const deciders = new Set(deciding.map((shot) => shot.link ?? shot))
  if (!votes && deciders.size > 1) say(`${deciders.size} answers were acknowledged: ${JSON.stringify(deciding)}`)
  if (row.answer?.actionId !== undefined && !given.some(inRecord))
    say(`nobody was told that this answer counts: ${JSON.stringify(row)} ${JSON.stringify(own)}`)
  const cast = row.votes ?? []
  const uncounted = cast.filter((vote) => !given.some((shot) => isVoteOf({ ...row, votes: [vote] }, shot)))
  if (uncounted.length > 0) say(`votes that nobody was told of: ${JSON.stringify(uncounted)}`)
}

/** Whether the response says that the answer, or the vote, counts. */
function told({ how, body, amount, actionId }: Shot): boolean {
  if (how !== 'link') return how !== 'undo'
  const { state, given = null, usedAt = null } = body.result.data
  // The page of a link that was used shows the answer that counts, also to those who use it again.
  if (given === null) return state === 'used' || usedAt !== null
  return given.label === LABELS[actionId] && (amount === null || given.data.amount === amount)
}

const LABELS = { approve: 'Approve', reject: 'Reject' }

const isHeld = ({ how, body }: Shot) => how === 'inbox' && body.result.data.undoMs !== null

/** Whether the name in a record can be that of this caller. */
function isBy({ person, how, link }: Shot, record: { by: string | null; via: string | null }): boolean {
  if (how === 'link') return record.via === link
  return person === null ? record.by !== null && record.via === null : record.by === person
}

function isAnswerOf({ answer, by, via }: Answered, shot: Shot): boolean {
  if (answer?.actionId !== shot.actionId) return false
  return isBy(shot, { by, via }) && (shot.amount === null || answer.data?.amount === shot.amount)
}

function isVoteOf({ votes }: Pick<Answered, 'votes'>, shot: Shot): boolean {
  return (votes ?? []).some(
    ({ person, via, actionId }) => actionId === shot.actionId && isBy(shot, { by: person, via }),
  )
}

/** An approved call was made once, with exactly the approved arguments, and any other never. */
function judgeCalls({ paid }: RaceWorld, race: Race, row: Answered, index: number, verdict: Verdict, say: Say): void {
  const made = paid.filter(({ key }) => key === keyOf(race, row.id))
  verdict.made += made.length
  const isApproved = row.answer?.actionId === 'approve'
  if (!isApproved && made.length > 0) say(`${JSON.stringify(row.answer)}, and the call was made`)
  const isWhole = race.outcome === 'succeeded'
  if (isApproved && (made.length > 1 || (isWhole && made.length === 0)))
    say(`approved, and the call was made ${made.length} times`)
  if (isWhole && row.decision?.approved !== isApproved) say(`the call's decision is ${JSON.stringify(row.decision)}`)
  const wanted = { n: index, amount: row.answer?.data?.amount ?? amountOf(index) }
  const stopAt = race.shots.find(({ how, status }) => /cancel|terminate/.test(how) && status === 200)?.at
  for (const { args, at } of made) {
    if (args.n !== wanted.n || args.amount !== wanted.amount)
      say(`made with ${JSON.stringify(args)}, approved were ${JSON.stringify(wanted)}`)
    if (row.at && at < row.at.getTime()) say('made before it was approved')
    if (stopAt === undefined || at <= stopAt) continue
    verdict.late += 1
    if (at > stopAt + WINDOW_MS) say(`made ${at - stopAt} ms after the run was stopped`)
  }
}

async function recordOf({ database }: RaceWorld, { runId }: Race): Promise<Answered[]> {
  return database.sql<Answered[]>`
    select p.id, p.answer, p.answered_by as by, p.answered_via as via, p.answered_at as at,
      (select json_agg(json_build_object('person', v.person, 'via', v.via, 'actionId', v.action_id)) from pause_votes v
        where v.tenant_id = p.tenant_id and v.run_id = p.run_id and v.pause_id = p.id) as votes,
      (select json_agg(h.person) from held_answers h where h.tenant_id = p.tenant_id and h.run_id = p.run_id
        and h.pause_id = p.id and h.refused is not null) as refused,
      (select c.decision from agent_turns t join agent_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id
        where t.tenant_id = p.tenant_id and t.run_id = p.run_id
          and c.seq = substring(p.id from '[^~]*$')::int) as decision
    from pauses p where p.run_id = ${runId}`
}
