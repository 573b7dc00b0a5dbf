import type { ServiceContext } from '../../context'
import type { Usage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { type JsonValue, toStorableJson } from '../../definition/json'
import type { AgentTotals } from '../../definition/schema'
import { ImpossibleState } from '../../errors'
import { addUsage, NO_USAGE } from '../../models/call'
import { olderLives, olderSeen } from '../../outbox'
import { marked } from '../../telemetry/traces'
import type { Answered } from '../decision'
import { type DaySum, readRun, type Used } from '../usage'
import { isInRun, type TurnFence } from './attempt'
import { answerIn, type Call, type Said, storedAnswer, type ToolOutput } from './call'
import { handOverId, keyOfCall } from './key'
import { type AskedQuestion, PartEnds } from './part-ends'
import type { HandedOver, KnownTurn } from './read'
import {
  type HandedMessage,
  newTurn,
  recordCalls,
  recordEnd,
  recordState,
  type SavedTurn,
  type TurnRow,
} from './record'

/** Where a turn is recorded, and as what. */
export interface Book {
  ctx: ServiceContext
  at: TurnFence
  turn: TurnRow
  /** What the keys of its calls of tools begin with. */
  key: string
}

/** The calls and answers of a turn that was begun before. */
type Known = Pick<KnownTurn, 'calls' | 'answers' | 'handOvers'>

const NEW: Known = { calls: [], answers: new Map(), handOvers: new Map() }
const NOTHING: ReadonlySet<string> = new Set()

type Versions = Record<string, string | number>

/**
 * The calls of a turn. Each attempt runs the turn from its start: a call that is recorded returns its recorded result,
 * and only the others are made. Without a book, nothing is recorded.
 */
export class Journal {
  private next = 1
  private asked = 0
  /** What the keys of the calls of the latest answer begin with; null for the key of the visit. */
  private keyBase: string | null = null
  private pending: Call[] = []
  private usage: Usage = NO_USAGE
  private cost: number | null = null
  private readonly calls: ReadonlyMap<number, Call>
  /** Receives what the workspace, the agent and the subject have used today, with each record. */
  onSpent: (sums: readonly DaySum[]) => void = () => {}
  /** Is called before each answer of a model, with the answer to the question before it. */
  onNext: (answered: Answered | null) => void = () => {}
  private readonly questions: AskedQuestion[] = []

  /**
   * @param place what the ids of its questions begin with
   * @param work what the agents of a turn have in common: whether a record was refused, and whether one was written
   * @param above that of the agent that handed the message over
   */
  constructor(
    private readonly book: Book | null = null,
    private readonly known: Known = NEW,
    private readonly place = '',
    private readonly work: { refused: { err: unknown } | null; cameFurther: boolean } = {
      refused: null,
      cameFurther: false,
    },
    private readonly above: Journal | null = null,
  ) {
    this.calls = new Map(known.calls.map((call) => [call.seq, call]))
    for (const call of known.calls) this.count(call)
  }

  /** The journal of an agent that a call hands a message to. */
  handOver(seq: number, agent: { id: string; version: number }, handed: HandedMessage): Journal {
    const { book, known, work } = this
    const before = this.handedOver(seq)
    // An older process does not know such turns.
    if (!book || (!before && (isInRun(book.at) ? olderLives() : olderSeen()))) return new Journal()
    const { turn, calls } = before ?? {
      turn: { ...newTurn(book.ctx, agent, null), id: handOverId(book.turn.id, seq), handed },
      calls: [],
    }
    const own = { ...turn, version: agent.version, rootId: book.turn.rootId ?? book.turn.id }
    // A refused answer does not count, and the agent is asked again.
    if (own.errorCode !== 'OUTPUT_SCHEMA_MISMATCH' && own.state === 'failed')
      Object.assign(own, { state: 'working', errorCode: null })
    return new Journal(
      { ...book, turn: own, key: `${book.key}:${seq}` },
      { ...known, calls },
      `${this.idOf(seq)}.`,
      work,
      this,
    )
  }

  /** The recorded calls of an agent that a call handed a message to, and of those below it, in the order of each. */
  callsBelow(seq: number): { agentId: string; call: Call; answered: Answered | null }[] {
    const { turn } = this.book ?? {}
    if (!turn) return []
    const top = handOverId(turn.id, seq)
    const turns = [...this.known.handOvers].filter(([id]) => id === top || id.startsWith(`${top}-`))
    return turns.flatMap(([id, below]) => {
      const place = this.place + id.slice(turn.id.length + 1).replaceAll('-', '.')
      const answer = (call: Call) => this.known.answers.get(`${place}.${call.seq}`) ?? null
      return below.calls.map((call) => ({ agentId: below.turn.agentId, call, answered: answer(call) }))
    })
  }

  /** What an agent that a call handed a message to has done before; null if nothing is recorded. */
  handedOver(seq: number): HandedOver | null {
    return (this.book && this.known.handOvers.get(handOverId(this.book.turn.id, seq))) ?? null
  }

  /** Whether it records, and so counts what is used. */
  get records(): boolean {
    return this.book !== null
  }

  /** The run, if the turn is recorded in one. */
  get runIds(): string[] {
    return this.book && isInRun(this.book.at) ? [this.book.at.runId] : []
  }

  /** What all agents of the run may use together, and what those of its other turns have used; null without a limit. */
  get ofRun(): { most: AgentTotals; others: () => Promise<Used> } | null {
    const { ctx, at, turn } = this.book ?? {}
    if (!ctx || !at || !isInRun(at) || !at.most) return null
    const { most, runId } = at
    return { most, others: () => readRun(ctx, runId, turn?.id ?? '') }
  }

  /** The names of the fields whose values the run hides. */
  get hides(): ReadonlySet<string> {
    return this.book?.at.hides ?? NOTHING
  }

  /** The versions of the tools when the turn began; null if it begins now. */
  get versions(): Versions | null {
    return this.calls.size > 0 ? (this.book?.turn.tools ?? null) : null
  }

  /** Notes the versions of the tools, for the whole turn. */
  keepVersions(versions: Versions): void {
    if (this.book) this.book.turn.tools = versions
  }

  /**
   * The next answer of a model. A new one is not recorded yet.
   * @param onSkipped receives those that did not count: they are not given again, but were paid for
   */
  async answer(make: () => Promise<Said>, onSkipped: (skipped: Said) => void): Promise<Said> {
    for (;;) {
      this.onNext(this.answerTo(this.next))
      const skipped = this.calls.get(this.next)
      if (!skipped?.errorCode) break
      onSkipped(answerIn(skipped))
      this.next += 1
    }
    const seq = this.next
    const known = this.calls.get(seq)
    const said = known ? answerIn(known) : await this.made(seq, make)
    this.asked = seq
    this.keyBase = known?.keyBase ?? null
    this.next = seq + 1 + said.calls.length
    return said
  }

  private async made(seq: number, make: () => Promise<Said>): Promise<Said> {
    await this.mayBegin()
    const startedAt = this.now()
    const said = await this.traced(seq, make)
    const { policy, usage, cached, cost, tried } = said
    const { modelId: name, provider, fallback } = said.by
    const output = () => storedAnswer(said)
    const answered = { policy, decision: null, usage, cached, cost, provider, fallback, tried }
    this.add({ seq, kind: 'model', name, startedAt, errorCode: null, ...answered, output })
    return said
  }

  /** Makes a call: its spans name the turn and its number. */
  traced<T>(seq: number, work: () => Promise<T>): Promise<T> {
    if (!this.book) return work()
    return marked({ 'millrace.turn.id': this.book.turn.id, 'millrace.call.seq': seq }, work)
  }

  /** The id of a question before the model's call that is next. */
  get upcoming(): string {
    return this.idOf(this.next)
  }

  /** The id of a question about a call. */
  idOf(seq: number): string {
    return `${this.place}${seq}`
  }

  /** Notes that the latest answer does not count: another model answers in its place. */
  passOver(errorCode: string): void {
    const last = this.pending.find(({ seq }) => seq === this.asked)
    if (last) last.errorCode = errorCode
    this.next = this.asked + 1
  }

  /** The number of a call that the latest answer asked for, by its place among them. */
  numberOf(index: number): number {
    return this.asked + 1 + index
  }

  /** Whether its last answer did not match, so that another one would not either. */
  get hasFailed(): boolean {
    return this.book?.turn.state === 'failed'
  }

  /** The recorded result of a tool call. */
  resultOf(seq: number): ToolOutput | null {
    const known = this.calls.get(seq)
    if (known?.kind === 'model') throw new ImpossibleState('turn-order', `call ${seq} of a turn is no call of a tool`)
    return (known?.output as ToolOutput | undefined) ?? null
  }

  /** The idempotency key of a tool call; undefined if its number does not determine it. */
  keyOf(seq: number): string | undefined {
    return this.book ? keyOfCall(this.keyBase ?? this.book.key, seq) : undefined
  }

  /** @throws if the turn must not begin another call; PartEnds if a later part makes it */
  async mayBegin(): Promise<void> {
    if (this.work.refused) throw this.work.refused.err
    // Each part comes further, so a call that takes longer than a part fails.
    if (this.work.cameFurther && this.book?.at.endsSoon()) throw new PartEnds()
    await this.book?.at.mayBegin()
  }

  /** Whether people can be asked. */
  get mayAsk(): boolean {
    return this.book?.at.mayAsk ?? false
  }

  /** The answer to the question about a call, or at a limit before one. */
  answerTo(seq: number): Answered | null {
    return this.known.answers.get(this.idOf(seq)) ?? null
  }

  ask(...questions: AskedQuestion[]): void {
    this.questions.push(...questions)
  }

  /** @throws PartEnds with the questions, if there are any */
  async requireDecisions(): Promise<void> {
    if (this.questions.length === 0) return
    const { book } = this
    const at = book?.at
    // Outside of runs, the run that the turn becomes waits.
    if (book?.turn.state === 'working' && book.turn.rootId === null && at && isInRun(at)) {
      // A new thread is known to nobody yet.
      if (book.turn.threadId) book.turn.state = 'waiting'
      // The answers are read with the turn, which has no row before its first call.
      if (book.turn.threadId || !(this.calls.size > 0 || this.work.cameFurther))
        await at.fenced(() => recordState(book.ctx, at, book.turn))
    }
    throw new PartEnds(this.questions.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })))
  }

  /** Adds the result of a tool call, to be recorded with the next one that is. */
  addResult(
    { seq, name, startedAt, errorCode }: Pick<Call, 'seq' | 'name' | 'startedAt' | 'errorCode'>,
    result: ToolOutput,
    decision: CallDecision | null = null,
  ): void {
    const output = () => toStorableJson(result)
    const none = { policy: null, usage: null, cost: null, provider: null, fallback: null, tried: null }
    this.add({ seq, kind: 'tool', name, startedAt, errorCode, ...none, decision, output })
  }

  /** Records what was added. */
  async record(): Promise<void> {
    await this.write((book, turn, calls) => recordCalls(book.ctx, book.at, turn, calls, (sums) => this.note(sums)))
  }

  /** Records the end of the turn with its messages. */
  async end(saved: SavedTurn): Promise<void> {
    if (this.book && this.pending.length === 0) throw new ImpossibleState('turn-end', 'a turn ends without an answer')
    if (this.book) Object.assign(this.book.turn, { state: 'done', threadId: saved.threadId })
    await this.write((book, turn, calls) => recordEnd(book.ctx, book.at, turn, calls, saved, (sums) => this.note(sums)))
  }

  /** Records that an agent has answered the one that handed it a message. */
  async done(): Promise<void> {
    if (this.book) this.book.turn.state = 'done'
    await this.record()
  }

  /** Records that the turn ended with an answer that does not count; without one, nothing. */
  async fail(errorCode: string): Promise<void> {
    const last = this.pending.findLast(({ kind }) => kind === 'model')
    if (!last || !this.book) return
    last.errorCode = errorCode
    Object.assign(this.book.turn, { state: 'failed', errorCode })
    await this.record()
  }

  /** The agents above learn what the workspace and the subject have used, too. */
  private note(sums: readonly DaySum[]): void {
    this.onSpent(sums)
    this.above?.note(sums.filter(({ kind }) => kind !== 'agent'))
  }

  now(): string {
    return (this.book?.ctx.now() ?? new Date()).toISOString()
  }

  private add({ output, ...call }: Omit<Call, 'endedAt' | 'keyBase' | 'output'> & { output: () => JsonValue }): void {
    if (!this.book) return
    const added = { ...call, output: output(), keyBase: null, endedAt: this.now() }
    this.pending.push(added)
    this.count(added)
  }

  private count({ usage, cost }: Pick<Call, 'usage' | 'cost'>): void {
    if (usage) this.usage = addUsage(this.usage, usage)
    if (cost !== null) this.cost = (this.cost ?? 0) + cost
  }

  private async write(
    statement: (book: Book, turn: TurnRow, calls: Call[]) => ReturnType<typeof recordCalls>,
  ): Promise<void> {
    const { book } = this
    if (!book || this.pending.length === 0) return
    const calls = this.pending
    this.pending = []
    const turn = { ...book.turn, usage: this.usage, cost: this.cost }
    try {
      await book.at.fenced(() => statement(book, turn, calls))
      this.work.cameFurther = true
    } catch (err) {
      this.work.refused = { err }
      throw err
    }
  }
}
