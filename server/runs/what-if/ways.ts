import { isJsonObject, type JsonObject, type JsonValue, jsonSize } from '../../definition/json'
import { HIDDEN } from '../../definition/sensitive'
import { type Needs, type Place, placeKey, type Reason, type WayVisit } from '../../definition/verdict'
import type { Masker } from '../../vault/mask'
import type { Fact } from '../../workflows/replay/facts'
import type { JudgedWalk } from '../../workflows/replay/judge'
import type { Seen } from '../../workflows/replay/recorded'
import type { Came } from '../../workflows/replay/source'
import { Unknowns } from '../../workflows/replay/unknown'
import type { Target } from '../backtest/trial'
import { shownPlace } from './said'
import type { Changes } from './schema'

/** Whether a visit is as it was, or new, or what else of it. */
export type State = 'as it was' | 'assumed' | 'changed' | 'unknown' | 'new'

/** A visit of a way. */
export interface WalkedVisit {
  place: Place
  exit: string | null
  state: State
  /** What an effect, a pause or a child was asked; absent for steps that only compute. */
  asked?: JsonObject
  /** The question to people. */
  signal?: JsonObject
  came?: { output: JsonValue } | { answer: JsonValue } | { failed: { code: string; message: string } }
  /** What it asked and what came of it is too large to be shown. */
  tooLarge?: true
}

/** A way with its end. `needs` says why the end is not known. */
export interface WalkedWay {
  visits: WalkedVisit[]
  /** More visits are not listed. */
  more: number
  end: { result: JsonValue } | { failed: { code: string; message: string; stepId: string | null } } | { needs: Needs }
}

export interface Ways {
  real: WalkedWay
  other: WalkedWay
  /** By the number of `$unknown`: why a value is unknown. */
  unknown: Reason[]
}

/** The most that is shown of one way. */
const MAX_VISITS = 1_000
const MAX_BYTES = 512 * 1024

interface Naming {
  /** The id of a written step, of the run's own version and of the other. */
  was: Target['idOf']
  now: Target['idOf']
  /** Definitions may name values of the vault. */
  vault: Masker
}

/** Both ways of a judged run, as its caller may see them. */
export function waysOf(judged: JudgedWalk, changes: Changes, naming: Naming): Ways {
  const { walked } = judged
  if (!walked) {
    const { verdict } = judged
    const needs: Needs = verdict.is === 'untold' ? verdict.needs : { why: 'too long' }
    const real = judged.was.map((visit) => ({ ...bare(visit, naming.was), state: 'as it was' as const }))
    return { real: wayOf(real, { needs }), other: wayOf([], { needs }), unknown: [] }
  }
  const { run, end } = walked
  const showing = new Showing(walked.unknowns, naming.vault)
  const facts = new Map(run.facts.visits.map((fact) => [placeKey(fact), fact]))
  const real = judged.was.map((visit) => realVisit(visit, facts.get(placeKey(visit)), naming.was, showing))
  const states = new States(judged, changes, naming)
  const other = judged.now.map((visit) => ({
    ...bare(visit, naming.now),
    state: states.of(visit),
    ...seenOf(walked.seen.get(placeKey(visit)), showing),
  }))
  return {
    real: wayOf(real, endShown(run.way.end, naming.was, showing)),
    other: wayOf(other, endShown(end, naming.now, showing)),
    unknown: showing.reasons.map((reason) => ({ ...reason, place: shownPlace(reason.place, naming.now) })),
  }
}

function bare(visit: WayVisit, idOf: Target['idOf']): Pick<WalkedVisit, 'place' | 'exit'> {
  return { place: shownPlace(visit, idOf), exit: visit.exit }
}

function realVisit(visit: WayVisit, fact: Fact | undefined, idOf: Target['idOf'], showing: Showing): WalkedVisit {
  const came = fact && typeof fact.came !== 'string' ? { came: cameShown(fact.came, showing) } : {}
  const asked = fact?.asked ? { asked: showing.object(fact.asked) } : {}
  return { ...bare(visit, idOf), state: 'as it was', ...asked, ...came }
}

function seenOf(seen: Seen | undefined, showing: Showing): Partial<WalkedVisit> {
  if (!seen) return {}
  const { config, asked, came } = seen
  return {
    asked: showing.object(config),
    ...(asked?.signal ? { signal: showing.object(plain(asked.signal)) } : {}),
    ...(came ? { came: cameShown(came, showing) } : {}),
  }
}

function cameShown(came: Came | Exclude<Fact['came'], string>, showing: Showing): NonNullable<WalkedVisit['came']> {
  if ('failed' in came) return { failed: { ...came.failed, message: showing.text(came.failed.message) } }
  if ('answer' in came) return { answer: showing.object(plain(came.answer)) }
  return { output: showing.json(came.output) }
}

function endShown(end: WalkedWay['end'], idOf: Target['idOf'], showing: Showing): WalkedWay['end'] {
  if ('result' in end) return { result: showing.json(end.result) }
  if ('needs' in end) {
    const { needs } = end
    return { needs: 'place' in needs ? { ...needs, place: shownPlace(needs.place, idOf) } : needs }
  }
  const { code, message, stepId } = end.failed
  return { failed: { code, message: showing.text(message), stepId: stepId === null ? null : idOf(stepId) } }
}

/** As JSON, without absent fields. */
const plain = (value: object): JsonObject => JSON.parse(JSON.stringify(value))

/** The first visits, and the values of the first ones. */
function wayOf(visits: readonly WalkedVisit[], end: WalkedWay['end']): WalkedWay {
  let left = MAX_BYTES
  const listed = visits.slice(0, MAX_VISITS).map((visit): WalkedVisit => {
    const size = jsonSize(plain(visit))
    left -= size
    if (left >= 0) return visit
    left += size
    const { place, exit, state } = visit
    return { place, exit, state, tooLarge: true }
  })
  const fits = jsonSize(plain(end)) <= MAX_BYTES
  return { visits: listed, more: visits.length - listed.length, end: fits ? end : { needs: { why: 'too large' } } }
}

/** Says of each visit of the new way how it is related to the run. */
class States {
  private readonly said: ReadonlySet<string>
  private readonly assumed: ReadonlySet<string>
  private readonly was: ReadonlySet<string>

  constructor(
    private readonly judged: JudgedWalk,
    { data, came }: Changes,
    private readonly naming: Naming,
  ) {
    this.said = new Set([...data.map(({ before }) => before), ...came.map(({ at }) => at)].map(placeKey))
    this.assumed = new Set(judged.verdict.assumed.map(({ place }) => placeKey(place)))
    this.was = new Set(judged.was.map(placeKey))
  }

  of(visit: WayVisit): State {
    if (this.said.has(placeKey(shownPlace(visit, this.naming.now)))) return 'changed'
    const seen = this.judged.walked?.seen.get(placeKey(visit))
    if (seen && (!seen.came || ('isUnknown' in seen.came && seen.came.isUnknown))) return 'unknown'
    if (this.assumed.has(placeKey(visit))) return 'assumed'
    return this.was.has(placeKey(visit)) ? 'as it was' : 'new'
  }
}

/** Shows values without the marks of unknown ones. */
class Showing {
  readonly reasons: Reason[] = []
  private readonly numbers = new Map<Reason, number>()

  constructor(
    private readonly unknowns: Unknowns,
    private readonly vault: Masker,
  ) {}

  text(text: string): string {
    return this.vault.text(Unknowns.shown(text))
  }

  json(value: JsonValue): JsonValue {
    return this.vault.json(this.shown(value))
  }

  object(value: JsonObject): JsonObject {
    return this.vault.json(this.parts(value))
  }

  private shown(value: JsonValue): JsonValue {
    if (typeof value === 'string') return Unknowns.isMark(value) ? this.mark(value) : this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.shown(item))
    return isJsonObject(value) ? this.parts(value) : value
  }

  private parts(value: JsonObject): JsonObject {
    const shown = Object.entries(value).map(([name, part]) => [this.text(name), this.shown(part)] as const)
    return Object.fromEntries(shown)
  }

  /** A hidden value is shown as on other screens. */
  private mark(value: string): JsonValue {
    const reason = this.unknowns.reasonIn(value)
    if (!reason || reason.why === 'hidden') return HIDDEN
    const number = this.numbers.get(reason) ?? this.reasons.push(reason) - 1
    this.numbers.set(reason, number)
    return { $unknown: number }
  }
}
