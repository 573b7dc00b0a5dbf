import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../../support/api'
import { KINDS, type Kind, type Member, type RaceWorld, UNDO_MS } from './world'

const LONGEST_MS = 60_000
/** Callers come within this time, or this long before and after a question expires. */
const SPREAD_MS = 40
/** More than the schema of the tool allows. */
const TOO_MUCH = 100_000_000

/** A request of one caller, and the response. */
export interface Shot {
  how: 'inbox' | 'undo' | 'rest' | 'link' | 'cancel' | 'terminate'
  /** When the response came. */
  at: number
  pauseId: string
  actionId: 'approve' | 'reject'
  /** The changed argument; null without one. */
  amount: number | null
  /** As the record of an answer names them; null if the caller named nobody. */
  person: string | null
  /** The id of the link that was used. */
  link: string | null
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: compared with records
  body: any
}

export interface Race {
  kind: Kind
  runId: string
  /** The ids of the questions, in the order of the calls. */
  asked: string[]
  shots: Shot[]
  outcome: string
  /** Of the run, if it failed. */
  error: string | undefined
}

type Random = () => number

/** One run whose questions callers answer, with changed arguments, undo and stop concurrently. */
export async function race(world: RaceWorld, random: Random): Promise<Race> {
  const kind = pick(Object.keys(KINDS) as Kind[], random)
  const count = 1 + Math.floor(random() * 3)
  const started = await world.rest(0, 'POST', `/api/workflow/start-async/${world.workflows[kind]}`, { count })
  if (started.status !== 200) throw new Error(`start answered ${started.status}`)
  const { runId } = started.body
  const asked = await questionsOf(world, runId, count)
  const callers = new Callers(world, random, kind, runId)
  const firing = await callers.planned(asked)
  await Promise.all(firing.map((fire) => fire()))
  const { outcome, error } = await callers.complete()
  return { kind, runId, asked, shots: callers.shots, outcome, error }
}

async function questionsOf(world: RaceWorld, runId: string, count: number): Promise<string[]> {
  for (const until = Date.now() + LONGEST_MS; Date.now() < until; await sleep(20)) {
    const rows = await world.database.sql<{ id: string }[]>`select id from pauses where run_id = ${runId} order by id`
    if (rows.length === count) return rows.map(({ id }) => id)
  }
  throw new Error(`${runId} does not ask`)
}

class Callers {
  readonly shots: Shot[] = []
  private serial = 0
  private readonly dueAt = new Map<string, number>()

  constructor(
    private readonly world: RaceWorld,
    private readonly random: Random,
    private readonly kind: Kind,
    private readonly runId: string,
  ) {}

  /** The requests of the callers of a race, each after a short time of its own. */
  async planned(asked: string[]): Promise<(() => Promise<void>)[]> {
    const rows = await this.world.database.sql`select id, due_at from pauses where run_id = ${this.runId}`
    for (const { id, due_at: due } of rows) if (due) this.dueAt.set(id, due.getTime())
    const firing: (() => Promise<void>)[] = []
    for (const pauseId of asked) {
      for (let left = 1 + Math.floor(this.random() * 4); left > 0; left--) firing.push(...(await this.caller(pauseId)))
    }
    for (const how of ['cancel', 'terminate'] as const) {
      if (this.random() < 0.12) firing.push(this.later(asked[0], () => this.stop(how)))
    }
    return firing
  }

  private async caller(pauseId: string): Promise<(() => Promise<void>)[]> {
    const twice = <T>(make: () => T) => (this.random() < 0.3 ? [make(), make()] : [make()])
    const member = pick(this.world.members, this.random)
    const how = this.random()
    if (how < 0.4) {
      const answers = twice(() => this.later(pauseId, this.inbox(pauseId, member)))
      return this.random() < 0.25 ? [...answers, this.later(pauseId, () => this.undo(pauseId, member))] : answers
    }
    if (how < 0.8) {
      const person = this.random() < 0.6 ? `caller ${this.serial++}` : null
      return twice(() => this.later(pauseId, this.rest(pauseId, person)))
    }
    const made = await this.world.rest(0, 'POST', `/api/workflow/task-links/${this.runId}`, { pauseId })
    if (made.status >= 300) return this.gone(made)
    const token = String(made.body.url).split('#')[1] ?? ''
    return twice(() => this.later(pauseId, this.link(pauseId, made.body.id, token)))
  }

  /** A question may expire while links are made. */
  private gone({ status, body }: Answer): [] {
    if (status !== 409) throw new Error(`a link: ${status} ${JSON.stringify(body)}`)
    return []
  }

  private later(pauseId: string | undefined, work: () => Promise<void>): () => Promise<void> {
    const delay = this.random() * SPREAD_MS
    const due = this.dueAt.get(pauseId ?? '')
    // Some come long before, and some at the moment at which time is up.
    const atDue = due !== undefined && this.random() < 0.7
    return async () => {
      await sleep(atDue ? Math.max(0, due - Date.now() + 2 * (delay - SPREAD_MS / 2)) : delay)
      await work()
    }
  }

  /** A new answer; of those that may change the amount, each has another. */
  private answer() {
    const actionId = this.random() < 0.6 ? ('approve' as const) : ('reject' as const)
    const edits = 'editable' in KINDS[this.kind] && actionId === 'approve' && this.random() < 0.8
    const amount = edits ? (this.random() < 0.1 ? TOO_MUCH : 1_000 + this.serial++) : null
    return { actionId, amount, data: amount === null ? {} : { data: { amount } }, remark: this.random() < 0.4 }
  }

  private inbox(pauseId: string, member: Member) {
    const { actionId, amount, data, remark } = this.answer()
    const body = { type: 'request_user_action', pauseId, actionId, ...data, ...(remark ? { remark: 'So be it.' } : {}) }
    return () =>
      this.shoot({ how: 'inbox', pauseId, actionId, amount, person: member.id }, (at) =>
        this.world.screen(at, 'tasks.answer', { runId: this.runId, body }, member),
      )
  }

  private undo(pauseId: string, member: Member) {
    return this.shoot({ how: 'undo', pauseId, actionId: 'reject', amount: null, person: member.id }, (at) =>
      this.world.screen(at, 'tasks.undo', { runId: this.runId, pauseId }, member),
    )
  }

  private rest(pauseId: string, person: string | null) {
    const { actionId, amount, data, remark } = this.answer()
    const by = { ...(person === null ? {} : { answeredBy: person }), ...(remark ? { remark: 'So be it.' } : {}) }
    const body = { type: 'request_user_action', pauseId, actionId, ...data, ...by }
    return () =>
      this.shoot({ how: 'rest', pauseId, actionId, amount, person }, (at) =>
        this.world.rest(at, 'POST', `/api/workflow/resume/${this.runId}`, body),
      )
  }

  private link(pauseId: string, link: string, token: string) {
    const { actionId, amount, data } = this.answer()
    return () =>
      this.shoot({ how: 'link', pauseId, actionId, amount, person: null, link }, (at) =>
        this.world.screen(at, 'auth.answerTaskLink', { token, actionId, ...data }),
      )
  }

  private stop(how: 'cancel' | 'terminate') {
    return this.shoot({ how, pauseId: '', actionId: 'reject', amount: null, person: null }, (at) =>
      this.world.rest(at, 'POST', `/api/workflow/management/${how}`, { runId: this.runId }),
    )
  }

  private async shoot(
    shot: Omit<Shot, 'at' | 'status' | 'body' | 'link'> & { link?: string },
    send: (at: number) => Promise<Answer>,
  ): Promise<void> {
    const { status, body } = await send(Math.floor(this.random() * this.world.webs.length))
    this.shots.push({ link: null, ...shot, at: Date.now(), status, body })
  }

  /** Waits until held answers are given, and answers what is open then, until the run has ended. */
  async complete(): Promise<{ outcome: string; error: string | undefined }> {
    await sleep(UNDO_MS)
    for (const until = Date.now() + LONGEST_MS; Date.now() < until; await sleep(30)) {
      const { body } = await this.world.rest(1, 'GET', `/api/workflow/status/${this.runId}`)
      const held = await this.world.database.sql`
        select from held_answers where run_id = ${this.runId} and refused is null`
      if (held.length > 0) continue
      if (body.endTime) return { outcome: body.outcome, error: body.error?.code }
      const [open] = body.pauseSignals
      if (open) await this.rest(open.id, `closer ${this.serial++}`)()
    }
    throw new Error(`${this.runId} does not end`)
  }
}

function pick<T>(all: readonly T[], random: Random): T {
  return all[Math.floor(random() * all.length)] as T
}
