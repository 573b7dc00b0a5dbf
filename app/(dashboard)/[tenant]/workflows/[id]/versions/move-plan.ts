import type { Refused } from '@/server/runs/moves/move'
import type { MovableRun } from '@/server/runs/moves/open-runs'
import type { MoveReason, MoveReasonCode } from '@/server/runs/moves/reasons'
import { runsText } from '../../../runs-text'

/** An open run whose move was judged. */
export type CheckedRun = Omit<MovableRun, 'startTime' | 'updatedAt'>

/** What stands against a move of each run. */
export interface Plan {
  /** They continue as if they had always had the version. */
  safe: CheckedRun[]
  /** Their tasks ask something else there. */
  asks: CheckedRun[]
  /** As `asks`, but votes were cast, and would be dropped. */
  votes: CheckedRun[]
  /** Something is under way, and will soon have passed. */
  busy: CheckedRun[]
  never: CheckedRun[]
}

export function planOf(runs: readonly CheckedRun[]): Plan {
  const plan: Plan = { safe: [], asks: [], votes: [], busy: [], never: [] }
  for (const run of runs) plan[kindOf(run)].push(run)
  return plan
}

const PASSING: readonly MoveReasonCode[] = ['BUSY', 'ANSWER_HELD']

export function kindOf({ verdict, reasons }: Pick<CheckedRun, 'verdict' | 'reasons'>): keyof Plan {
  if (verdict === 'safe') return 'safe'
  if (verdict === 'asks_again') return 'asks'
  if (verdict === 'not_now') return 'busy'
  const lasting = reasons.filter(({ code }) => !PASSING.includes(code))
  return lasting.every(({ code }) => code === 'VOTES_LOST') ? 'votes' : 'never'
}

/** The runs to move. Busy ones are tried until they are not. */
export function chosenOf({ safe, asks, votes, busy }: Plan, how: { asksAgain: boolean; dropVotes: boolean }): string[] {
  const chosen = [...safe, ...(how.asksAgain ? asks : []), ...(how.asksAgain && how.dropVotes ? votes : []), ...busy]
  return chosen.map(({ runId }) => runId)
}

/** Runs that are not moved for the same reasons. */
export interface ReasonGroup {
  title: string
  messages: string[]
  advice: string[]
  runIds: string[]
}

const TITLES: Record<MoveReasonCode, string> = {
  BUSY: 'A step is under way',
  ANSWER_HELD: 'An answer was just given',
  STEP_GONE: 'The step where they are is gone',
  STEP_TYPE: 'The step where they are is of another type',
  DATA_MISFIT: 'Their data lacks something that is needed',
  BRANCHES_CHANGED: 'Their open branches have changed',
  CHILD_CHANGED: 'They belong to another run, and no longer fit together',
  CALL_REPEATED: 'They would make a call for the second time',
  VOTES_LOST: 'Votes would be lost',
  ENDING: 'They are about to end',
  TIME_UP: 'Their time is over',
  LOOP_SPENT: 'They have repeated a step as often as is allowed',
  HIDDEN_FIELD: 'A hidden field would be shown',
  INPUT_MISFIT: 'They have not begun, and their input does not fit',
  PART: 'They only test a part of the workflow',
}

/** The most frequent reasons first. */
export function reasonGroups(runs: readonly { runId: string; reasons: readonly MoveReason[] }[]): ReasonGroup[] {
  const groups = new Map<string, ReasonGroup>()
  for (const { runId, reasons } of runs) {
    const [first] = reasons
    if (!first) continue
    const messages = [...new Set(reasons.map(({ message }) => message))]
    const key = [first.code, ...messages].join('\n')
    const advice = [...new Set(reasons.map((one) => one.advice))]
    const group = groups.get(key) ?? { title: TITLES[first.code], messages, advice, runIds: [] }
    group.runIds.push(runId)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => b.runIds.length - a.runIds.length)
}

/** What tasks ask differently, by the version and the step that they wait at. */
export interface QuestionGroup {
  version: number
  stepId: string
  what: CheckedRun['changes'][number]['what']
  count: number
}

export function questionGroups(runs: readonly CheckedRun[]): QuestionGroup[] {
  const groups = new Map<string, QuestionGroup>()
  for (const { workflowVersion: version, changes } of runs) {
    for (const { stepId, what } of changes) {
      const key = `${version} ${stepId}`
      const group = groups.get(key) ?? { version, stepId, what: [], count: 0 }
      groups.set(key, { ...group, what: [...new Set([...group.what, ...what])], count: group.count + 1 })
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count)
}

/** The runs that a call did not move, in a sentence for each kind, without those that have reasons. */
export function leftText(refused: readonly Refused[]): string[] {
  const count = (is: (one: Refused) => boolean) => refused.filter(is).length
  const ended = count(({ code }) => code === 'RUN_ALREADY_ENDED')
  const gone = count(({ code }) => code === 'RUN_NOT_FOUND')
  const asks = count((one) => one.code === 'MOVE_REFUSED' && one.verdict === 'asks_again')
  return [
    ...(ended > 0 ? [`${runsText(ended)} ended before the move.`] : []),
    ...(gone > 0 ? [`${runsText(gone)} ${gone === 1 ? 'was' : 'were'} deleted.`] : []),
    ...(asks > 0 ? [`${runsText(asks)} came to a task that would be asked again, and stayed.`] : []),
  ]
}
