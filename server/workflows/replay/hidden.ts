import { isJsonObject, type JsonObject, type JsonValue } from '../../definition/json'
import type { PauseAnswer } from '../../definition/run'
import { textsUnder } from '../../definition/sensitive'
import type { Sliced } from '../../definition/sliced'
import type { Needs } from '../../definition/verdict'
import { MAIN_BRANCH } from '../../run-store/names'
import { maskerFor, SHORTEST_VALUE } from '../../vault/hide'
import { type Masker, maskerOf } from '../../vault/mask'
import type { Fact, FactCame, Facts, RecordedRun } from './facts'
import type { Unknowns } from './unknown'

// A definition is an oracle: its author could copy, cut up or compare a hidden field, and read it off the way that old
// runs would go. So a replay for a person who may not see a value does not have it: where screens show ***, the
// facts of the run have an unknown value. Each place has its own, so that nobody learns which of them are equal; what a
// step passes on unchanged is the same because the step is.

/** Masks texts, such as messages, for whom a replay is made. */
type MaskText = (text: string) => string

/** More hidden values would take too long to search for, and fewer would hide less than screens do. */
const MAX_VALUES = 200
/** The maximum time for one run. */
const MAX_MS = 1_000

const NOWHERE = { branch: MAIN_BRANCH, stepId: '', visit: 0 }

class TooLarge extends Error {
  override name = 'TooLarge'
}

/**
 * A run without what screens hide of it: sensitive fields and their values elsewhere, and values of the vault. Or why
 * that is not possible.
 * @param of.hides the names of fields to hide
 * @param of.values objects that may contain such fields, beside the facts
 */
export function* withoutHidden(
  run: RecordedRun,
  unknowns: Unknowns,
  { vault, hides, values }: { vault: Masker; hides: ReadonlySet<string>; values: readonly JsonObject[] },
): Sliced<{ run: RecordedRun; mask: MaskText } | { needs: Needs }> {
  const { facts, way } = run
  if (hides.size === 0 && vault.longest === 0) return { run, mask: (text) => text }
  const texts = new Set<string>()
  for (const value of hides.size === 0 ? [] : [...valuesIn(run), ...values]) {
    yield
    for (const text of textsUnder(value, hides)) if (text.length >= SHORTEST_VALUE) texts.add(text)
    if (texts.size > MAX_VALUES) return { needs: { why: 'hidden', place: NOWHERE } }
  }
  const masker = maskerFor(vault, hides, maskerOf(texts))
  const hiding = new Hiding(unknowns, masker, hides, texts)
  try {
    const end = 'result' in way.end ? { result: yield* hiding.json(way.end.result) } : way.end
    const hidden = { ...run, facts: yield* factsWithout(facts, hiding), way: { ...way, end } }
    return { run: hidden, mask: (text) => masker.text(text) }
  } catch (err) {
    if (err instanceof TooLarge) return { needs: { why: 'too large' } }
    throw err
  }
}

function valuesIn({ facts: { input, edits, visits }, way: { end } }: RecordedRun): JsonObject[] {
  const result = 'result' in end ? [end.result] : []
  const came = visits.flatMap(({ came }) => (typeof came === 'string' || 'failed' in came ? [] : partsOf(came)))
  return [input, ...edits.map(({ data }) => data), ...result, ...came].filter(isJsonObject)
}

function* factsWithout(facts: Facts, hiding: Hiding): Sliced<Facts> {
  const { input, edits, visits } = facts
  const hidden: Facts = { ...facts, input: yield* hiding.fields(input), edits: [], visits: [] }
  for (const edit of edits) hidden.edits.push({ ...edit, data: yield* hiding.fields(edit.data) })
  for (const fact of visits) {
    const asked = fact.asked && (yield* hiding.inEach(fact.asked))
    hidden.visits.push({ ...fact, asked, came: yield* cameWithout(fact, hiding) })
  }
  return hidden
}

function* cameWithout({ came, savedAs }: Fact, hiding: Hiding): Sliced<FactCame> {
  if (typeof came === 'string') return came
  if ('failed' in came) return { failed: { ...came.failed, message: hiding.text(came.failed.message) } }
  if ('output' in came)
    return {
      output: savedAs === undefined ? yield* hiding.json(came.output) : yield* hiding.named(savedAs, came.output),
    }
  const answer: PauseAnswer = JSON.parse(JSON.stringify(yield* hiding.answer(storedAnswer(came.answer))))
  return { answer }
}

function partsOf(came: { output: JsonValue } | { answer: PauseAnswer }): JsonValue[] {
  return 'output' in came ? [came.output] : Object.values(storedAnswer(came.answer))
}

function storedAnswer(answer: PauseAnswer): JsonObject {
  return JSON.parse(JSON.stringify(answer))
}

/** Puts unknown values in place of hidden ones. */
class Hiding {
  /** The hidden values that texts are searched for; longer ones first. */
  private readonly known: readonly string[]

  constructor(
    private readonly unknowns: Unknowns,
    private readonly masker: Masker,
    private readonly hides: ReadonlySet<string>,
    texts: Iterable<string>,
  ) {
    this.known = [...texts].toSorted((a, b) => b.length - a.length)
  }

  /** Of an object whose own names are the product's. */
  *inEach(object: JsonObject): Sliced<JsonObject> {
    const hidden: JsonObject = {}
    for (const [name, value] of Object.entries(object)) put(hidden, name, yield* this.json(value))
    return hidden
  }

  *answer(answer: JsonObject): Sliced<JsonObject> {
    const hidden = yield* this.inEach(answer)
    for (const name of ['event', 'child']) {
      const part = answer[name]
      if (isJsonObject(part)) hidden[name] = yield* this.inEach(part)
    }
    // The action that was chosen is no value of a field. Who resumes a run chooses its value.
    const { actionId, actionValue } = answer
    if (actionId === undefined) return hidden
    return { ...hidden, actionId, ...(actionValue === actionId ? { actionValue } : {}) }
  }

  *json(value: JsonValue): Sliced<JsonValue> {
    if ((yield) > MAX_MS) throw new TooLarge()
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.masker.json<JsonValue>(value) === value ? value : this.mark()
    if (Array.isArray(value)) {
      const items: JsonValue[] = []
      for (const item of value) items.push(yield* this.json(item))
      return items
    }
    if (!isJsonObject(value)) return value
    // A hidden value in the name of a field hides the object.
    if (Object.keys(value).some((name) => this.masker.text(name) !== name)) return this.mark()
    return yield* this.fields(value)
  }

  *fields(object: JsonObject): Sliced<JsonObject> {
    const hidden: JsonObject = {}
    for (const [name, value] of Object.entries(object)) put(hidden, name, yield* this.named(name, value))
    return hidden
  }

  /** Of the value of a field. */
  *named(name: string, value: JsonValue): Sliced<JsonValue> {
    if (!this.hides.has(name) || value === null || value === '') return yield* this.json(value)
    // A form that a step asked with declares the field, and has no value of it.
    if (isJsonObject(value) && value.sensitive === true && typeof value.type === 'string')
      return yield* this.inEach(value)
    return this.mark()
  }

  text(text: string): string {
    if (this.masker.text(text) === text) return text
    const mark = this.mark()
    const marked = this.known.reduce((all, value) => all.replaceAll(value, mark), text)
    return this.masker.text(marked) === marked ? marked : mark
  }

  private mark(): string {
    return this.unknowns.make({ why: 'hidden', place: NOWHERE })
  }
}

/** Also under the name `__proto__`. */
function put(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
}
