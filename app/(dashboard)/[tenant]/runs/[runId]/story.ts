import { durationText } from '@/app/_ui/time-text'
import { listed } from '@/lib/listed'
import { EVERYBODY, remindersText, type ShownReminder } from '@/server/definition/reminder'
import type { ShownMove } from '@/server/views/runs/moves'
import type { RunOverview } from '@/server/views/runs/overview'

/** A piece of a sentence: plain text, an emphasised name, a quotation, a point in time, or another run. */
export type Piece = string | { name: string } | { quote: string } | { at: string } | { runId: string; text: string }
type Sentence = Piece[]

type StoryRun = Pick<
  RunOverview,
  | 'state'
  | 'startTime'
  | 'endTime'
  | 'answers'
  | 'turns'
  | 'repeated'
  | 'moves'
  | 'pauses'
  | 'timer'
  | 'retrying'
  | 'working'
  | 'done'
  | 'atFailure'
  | 'retry'
  | 'error'
  | 'cancellation'
  | 'cancelling'
  | 'cleaningUp'
  | 'failing'
>

/** This many are described one by one; earlier ones are only counted. */
const ANSWERS = 3
const TURNS = 2
const MOVES = 2
const WAITING = 2
/** The number of characters quoted from a message. */
const QUOTED = 160

/** Explains the run's course, and what it waits for and until when: one short paragraph, made by rules. */
export function storyOf(run: StoryRun): Piece[] {
  const sentences = [...whatHappened(run), ...cancelOf(run), ...(run.endTime ? endOf(run, run.endTime) : nowOf(run))]
  return sentences.flatMap((sentence, index) => (index === 0 ? sentence : [' ', ...sentence]))
}

/** The story as text, for tests and for copying. */
export function plainText(pieces: Piece[]): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece
      if ('name' in piece) return piece.name
      if ('runId' in piece) return piece.text
      return 'quote' in piece ? `“${piece.quote}”` : piece.at
    })
    .join('')
}

interface Happened {
  at: string
  /** The step whose name begins the sentence. */
  begins?: string
  /** @param next the step whose name begins the next sentence */
  sentence: (next: string | undefined) => Sentence
}

/** Decisions, exits taken, steps with several attempts and moves to other versions, in chronological order. */
function whatHappened(run: StoryRun): Sentence[] {
  const earlier = run.answers.length - ANSWERS
  const repeated = run.repeated.map(
    ({ stepName, attempts, at }): Happened => ({
      at,
      begins: stepName,
      sentence: () => [{ name: stepName }, ` succeeded at attempt ${attempts}.`],
    }),
  )
  const all = [...answersOf(run), ...turnsOf(run), ...repeated, ...movesOf(run)].sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  )
  const word = run.answers.slice(0, -ANSWERS).every(({ ended }) => ended === 'answered') ? 'answer' : 'task'
  return [
    ...(earlier > 0 ? [[`${earlier} earlier ${earlier === 1 ? word : `${word}s`} led here.`]] : []),
    ...all.map(({ sentence }, index) => sentence(all[index + 1]?.begins)),
  ]
}

function answersOf({ answers, turns }: StoryRun): Happened[] {
  return answers.slice(-ANSWERS).map((answered): Happened => {
    const { answeredBy, answeredAt, label, title, stepId, stepName, kind, votes, ended: how, undecided } = answered
    const who = answeredBy?.kind === 'link' ? `Someone with ${answeredBy.name}` : (answeredBy?.name ?? 'Someone')
    const what = { name: title ?? stepName }
    const toName = turns.find((turn) => turn.stepId === stepId)?.toName
    const led = (next: string | undefined): Sentence =>
      toName && toName !== next ? [', which led to ', ...ended(toName)] : ['.']
    const cast = undecided ? votesSoFar(undecided) : []
    const said = (): Sentence => {
      if (how !== 'answered')
        return [what, how === 'expired' ? ' expired' : ' was withdrawn', cast.length > 0 ? ' undecided' : ' unanswered']
      if (kind === 'collect_inputs') return [who, ' filled in ', what]
      const chosen = { quote: label ?? 'an action' }
      if (!votes) return [who, ' chose ', chosen, ' for ', what]
      return [`${votes.names.length} of ${votes.cast} chose `, chosen, ' for ', what, `: ${named(votes.names)}`]
    }
    const reminded = remindersIn(answered.reminders)
    return { at: answeredAt, sentence: (next) => [...said(), ...led(next), ...cast, ...reminded] }
  })
}

/** The exits of steps with several. Decisions are part of the sentence about their answer. */
function turnsOf({ turns, answers }: StoryRun): Happened[] {
  const decided = new Set(answers.slice(-ANSWERS).map(({ stepId }) => stepId))
  return turns
    .filter(({ stepId }) => !decided.has(stepId))
    .slice(-TURNS)
    .map(({ stepName, exit, label, toName, at, error }): Happened => {
      const to = (next: string | undefined): Sentence => {
        if (toName === null) return [', where the path ended.']
        return toName === next ? ['.'] : [' to ', ...ended(toName)]
      }
      const took: Sentence =
        exit === 'error'
          ? [' failed', ...(error ? [': ', { quote: short(error) }] : []), ', so the run took its error exit']
          : [' took the exit ', { quote: label }]
      return { at, begins: stepName, sentence: (next) => [{ name: stepName }, ...took, ...to(next)] }
    })
}

function movesOf({ moves }: StoryRun): Happened[] {
  return moves.slice(-MOVES).map((move): Happened => {
    const { askedAgain, waitsAgain, droppedVotes, reason } = move
    const were = (names: string[]) => (names.length === 1 ? ' was' : ' were')
    const what: Sentence[] = [
      ...(askedAgain.length > 0 ? [[{ name: named(askedAgain) }, `${were(askedAgain)} asked again`]] : []),
      ...(waitsAgain.length > 0 ? [['its wait at ', { name: named(waitsAgain) }, ' changed']] : []),
      ...(droppedVotes > 0 ? [[droppedVotes === 1 ? '1 vote was dropped' : `${droppedVotes} votes were dropped`]] : []),
    ]
    const then = what.flatMap(
      (one, at): Sentence => [at === 0 ? '; ' : at === what.length - 1 ? ' and ' : ', ', ...one],
    )
    const note: Sentence = reason === null ? ['.'] : [': ', { quote: short(reason) }, '.']
    return { at: move.at, sentence: () => [`${moverOf(move)} moved it ${betweenVersions(move)}`, ...then, ...note] }
  })
}

export function moverOf({ by }: Pick<ShownMove, 'by'>): string {
  return by === null ? 'Someone' : by.kind === 'apiKey' ? `The API key ${by.name}` : by.name
}

/** From v4 to v5. */
export function betweenVersions({ from, to }: Pick<ShownMove, 'from' | 'to'>): string {
  const named = (version: number | null) => (version === null ? 'a draft' : `v${version}`)
  return `from ${named(from)} to ${named(to)}`
}

/** A name at the end of a sentence, with a full stop unless the name ends in punctuation. */
function ended(name: string): Sentence {
  return /[.?!…]$/.test(name) ? [{ name }] : [{ name }, '.']
}

/** The first line of a message, without the full stop that would end the surrounding sentence. */
function short(message: string): string {
  const [line = ''] = message.trim().split('\n')
  return line.length > QUOTED ? `${Array.from(line).slice(0, QUOTED).join('').trimEnd()}…` : line.replace(/\.$/, '')
}

function cancelOf({ cancellation, cleaningUp, cancelling }: StoryRun): Sentence[] {
  if (!cancellation) return []
  const { kind, reason, requestedBy, requestedAt, cleanup } = cancellation
  const why: Sentence = reason ? [': ', { quote: reason }, /[.!?]$/.test(reason) ? '' : '.'] : ['.']
  const said: Sentence = [
    requestedBy?.name ?? 'Someone',
    kind === 'cancel' ? ' cancelled it at ' : ' terminated it at ',
    { at: requestedAt },
    ...why,
  ]
  if (cleaningUp) return [said, ['Its cleanup path is running.']]
  if (cleanup) return [said, [`Its cleanup path ${cleanup}.`]]
  return cancelling ? [said, ['A step under way may still finish.']] : [said]
}

function endOf(run: StoryRun, endTime: string): Sentence[] {
  const { state, done, error } = run
  const took = durationText(Date.parse(endTime) - Date.parse(run.startTime))
  if (state === 'completed') {
    const waited = waitedFor(run)
    const people: Piece = waited > 0 ? `, of which it waited ${durationText(waited)} for people` : ''
    return [[`It completed ${steps(done)} in ${took}`, people, '.']]
  }
  const path = onPath(run)
  if (state === 'timed_out') {
    const ended = `after ${took} and ${steps(done)}`
    // Otherwise a step's wait was over, and its message says for what.
    if (error?.code === 'RUN_TIMED_OUT' || !error) return [[`It reached its time limit ${ended}.`], ...path]
    return [[`It timed out ${ended}: `, { quote: short(error.message) }, '.'], ...path]
  }
  if (state !== 'failed') return [[`It had completed ${steps(done)} in ${took}.`]]
  if (!error?.stepId) return [[`It failed after ${took} and ${steps(done)}.`], ...path]
  if (!run.atFailure?.others)
    return [[`It failed after ${took} at its first step${path.length > 0 ? '' : ', so nothing else ran'}.`], ...path]
  return [[`It failed after ${took}.`], ...retryOf(run), ...path]
}

function retryOf({ retry, atFailure, error }: StoryRun): Sentence[] {
  if (!retry || retry.same || !atFailure) return []
  const { kept } = atFailure
  const here = retry.stepId === error?.stepId
  if (kept === 0) return [['A retry would begin at ', ...(here ? ['its first step.'] : ended(retry.stepName))]]
  return [[`A retry would keep ${steps(kept)} before `, ...(here ? ['that.'] : ended(retry.stepName))]]
}

/** The failure path's steps: it runs after the step has failed and before the run ends. */
function onPath({ atFailure }: StoryRun): Sentence[] {
  const path = atFailure?.path ?? []
  const groups = (['completed', 'failed'] as const).flatMap((status) => {
    const names = path.filter((step) => step.status === status).map(({ stepName }) => stepName)
    return names.length === 0 ? [] : [[{ name: named(names) }, ` ${status}`]]
  })
  const [first, second] = groups
  if (!first) return []
  return [['Then, on its failure path, ', ...first, ...(second ? [' and ', ...second] : []), '.']]
}

function nowOf(run: StoryRun): Sentence[] {
  const { pauses, timer, retrying, working, done, cancelling, cleaningUp } = run
  if (cancelling || cleaningUp) return []
  if (run.failing) {
    const { message, stepName } = run.failing
    const where: Sentence = stepName === null ? [] : [' at ', { name: stepName }]
    return [['It failed', ...where, ': ', { quote: message }, '. Its failure path is running.']]
  }
  if (pauses.length > 0) {
    const others = pauses.length - WAITING
    return [
      ...pauses.slice(0, WAITING).map(waitingFor),
      ...(others > 0 ? [[`It also waits for ${others} more ${others === 1 ? 'answer' : 'answers'}.`]] : []),
    ]
  }
  if (retrying) {
    const { stepName, attempt, nextAt } = retrying
    return [
      ['Attempt ', String(attempt), ' at ', { name: stepName }, ' failed; the next is due at ', { at: nextAt }, '.'],
    ]
  }
  if (timer) {
    if (timer.eventName !== null) return [awaiting(timer)]
    if (timer.childRunId !== null)
      return [
        [
          'It waits at ',
          { name: timer.stepName },
          ' for the end of ',
          { runId: timer.childRunId, text: 'another run' },
          '.',
        ],
      ]
    if (timer.dueAt === null) return [['It waits at ', { name: timer.stepName }, '.']]
    return [['It waits at ', { name: timer.stepName }, ' until ', { at: timer.dueAt }, ' and then continues.']]
  }
  const [at] = working
  if (at) return [['It is at ', { name: at.stepName }, ' now.']]
  return [[done === 0 ? 'It has not begun yet: it waits for its turn.' : 'It is about to begin its next step.']]
}

function awaiting({ stepName, eventName, eventKey, dueAt }: NonNullable<StoryRun['timer']>): Sentence {
  return [
    ...['It waits at ', { name: stepName }, ' for the event ', { name: eventName ?? '' }],
    ...(eventKey === null ? [] : [' with the key ', { name: eventKey }]),
    ...(dueAt === null ? [', with no time limit.'] : [' until ', { at: dueAt }, '.']),
  ]
}

function waitingFor(pause: StoryRun['pauses'][number]): Sentence {
  const { signal, stepName, createdAt, dueAt, people, reminders } = pause
  const title = { name: signal.title ?? stepName }
  const labels = signal.type === 'request_user_action' ? signal.actions.map(({ label }) => label) : []
  const asked: Sentence =
    signal.type === 'collect_inputs' ? [' to fill in ', title] : [' to choose ', oneOf(labels), ' for ', title]
  const until: Sentence = dueAt === null ? [', with no time limit.'] : [' until ', { at: dueAt }, '.']
  const who = people.assignees ? named(people.assignees, 'or') : 'someone'
  const since: Sentence = ['Since ', { at: createdAt }, ` it has been waiting for ${who}`]
  return [...since, ...asked, ...until, ...votesSoFar(people), ...remindersIn(reminders)]
}

/** The last reminder, and who got the task after it. */
function remindersIn(reminders: readonly ShownReminder[]): Sentence {
  const last = reminders.findLast(({ handed }) => !handed)
  const handed = reminders.find((one) => one.handed)
  const people = ({ who }: ShownReminder) => (who ? named(who) : EVERYBODY)
  return [
    ...(last && !handed
      ? [` ${people(last)} got reminder ${last.number} of ${last.times} at `, { at: last.at }, '.']
      : []),
    ...(handed
      ? [` After ${remindersText(handed.number)}, it was handed to ${people(handed)} at `, { at: handed.at }, '.']
      : []),
  ]
}

function votesSoFar(people: StoryRun['pauses'][number]['people']): Sentence {
  return votesCast(people).flatMap((said) => [' ', ...said, '.'])
}

/** Who voted for each action, without the end of a sentence. */
export function votesCast({ votes, needs }: StoryRun['pauses'][number]['people']): Sentence[] {
  return needs.flatMap(({ label, votes: needed }) => {
    const names = (votes ?? []).filter((vote) => vote.label === label).map(({ name }) => name)
    return names.length === 0 ? [] : [[`${names.length} of ${needed} chose `, { quote: label }, `: ${named(names)}`]]
  })
}

/** This many are named; the others are only counted. */
const NAMES = 5

function named(names: string[], last: 'and' | 'or' = 'and'): string {
  return listed(names.length > NAMES ? [...names.slice(0, NAMES - 1), `${names.length - NAMES + 1} more`] : names, last)
}

/** Approve or Reject; one of 12 actions. */
function oneOf(labels: string[]): string {
  if (labels.length > 4) return `one of ${labels.length} actions`
  return labels.length === 0 ? 'an action' : listed(labels, 'or')
}

/** The time during which at least one question was open. */
function waitedFor({ answers }: StoryRun): number {
  let total = 0
  let until = 0
  for (const { createdAt, answeredAt } of answers) {
    const [from, to] = [Math.max(until, Date.parse(createdAt)), Date.parse(answeredAt)]
    if (to > from) total += to - from
    until = Math.max(until, to)
  }
  return total
}

function steps(count: number): string {
  return count === 1 ? 'one step' : count === 0 ? 'no step' : `${count.toLocaleString('en')} steps`
}
