import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../definition/json'
import type { PauseAnswer } from '../../definition/run'
import { textsUnder } from '../../definition/sensitive'
import { hiddenValues, hidingMasker } from '../../vault/hide'
import { MASK, type Masker } from '../../vault/mask'
import type { Fact, FactCame, Facts, RecordedRun } from './facts'
import type { Unknowns } from './unknown'

// A definition is an oracle: its author could copy, cut up or compare a hidden field, and read it off the way that old
// runs would go. So a replay for a person who may not see a value does not have it: where screens show ***, the
// facts of the run have an unknown value. Equal values of a field stay equal, so that passing one on is no difference.

/** Masks texts, such as messages, for whom a replay is made. */
type MaskText = (text: string) => string

/**
 * A run without what screens hide of it: sensitive fields and their values elsewhere, and values of the vault.
 * @param hides the names of fields to hide
 */
export function withoutHidden(
  run: RecordedRun,
  unknowns: Unknowns,
  { vault, hides }: { vault: Masker; hides: ReadonlySet<string> },
): { run: RecordedRun; mask: MaskText } {
  const { facts, way } = run
  const values = hides.size === 0 ? [] : valuesIn(run)
  const masker = hides.size === 0 ? vault : hidingMasker(vault, hides, values)
  const mask = (text: string) => masker.text(text)
  const whole = JSON.stringify([facts, way.end])
  if (hides.size === 0 && vault.text(whole) === whole) return { run, mask }
  const hiding = new Hiding(unknowns, masker, hides, values)
  const end = 'result' in way.end ? { result: hiding.json(way.end.result) } : way.end
  return { run: { ...run, facts: factsWithout(facts, hiding), way: { ...way, end } }, mask }
}

function valuesIn({ facts: { input, edits, visits }, way: { end } }: RecordedRun): JsonObject[] {
  const result = 'result' in end ? [end.result] : []
  const came = visits.flatMap(({ came }) => (typeof came === 'string' || 'failed' in came ? [] : partsOf(came)))
  return [input, ...edits.map(({ data }) => data), ...result, ...came].filter(isJsonObject)
}

function factsWithout(facts: Facts, hiding: Hiding): Facts {
  const { input, edits, visits } = facts
  return {
    ...facts,
    input: hiding.fields(input),
    edits: edits.map((edit) => ({ ...edit, data: hiding.fields(edit.data) })),
    visits: visits.map((fact): Fact => {
      return { ...fact, asked: fact.asked && hiding.inEach(fact.asked), came: cameWithout(fact.came, hiding) }
    }),
  }
}

function cameWithout(came: FactCame, hiding: Hiding): FactCame {
  if (typeof came === 'string') return came
  if ('failed' in came) return { failed: { ...came.failed, message: hiding.text(came.failed.message) } }
  if ('output' in came) return { output: hiding.json(came.output) }
  const answer: PauseAnswer = JSON.parse(JSON.stringify(hiding.answer(storedAnswer(came.answer))))
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
  /** The hidden values that texts are searched for, each with its mark; longer ones first. */
  private readonly known: (readonly [string, string])[]

  constructor(
    private readonly unknowns: Unknowns,
    private readonly masker: Masker,
    private readonly hides: ReadonlySet<string>,
    values: JsonObject[],
  ) {
    const texts = hiddenValues(values, hides).toSorted((a, b) => b.length - a.length)
    // A value of two fields is that of the first.
    const nameOf = (text: string) => [...hides].find((name) => textsUnder(values, new Set([name])).includes(text)) ?? ''
    this.known = texts.map((text) => [text, this.mark(nameOf(text), text)] as const)
  }

  /** Of an object whose own names are the product's. */
  inEach(object: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, this.json(value)]))
  }

  answer(answer: JsonObject): JsonObject {
    const { actionId, actionValue: _value, ...rest } = this.inEach(answer)
    const parts = Object.fromEntries(
      ['event', 'child'].flatMap((name) => (isJsonObject(answer[name]) ? [[name, this.inEach(answer[name])]] : [])),
    )
    // The name of a decision is no value of a field.
    const decided = actionId === undefined ? {} : { actionId, actionValue: answer.actionValue ?? null }
    return { ...rest, ...parts, ...decided }
  }

  json(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.masker.json<JsonValue>(value) === value ? value : this.elsewhere(value)
    if (Array.isArray(value)) return value.map((item) => this.json(item))
    if (!isJsonObject(value)) return value
    // A hidden value in the name of a field hides the object.
    if (Object.keys(value).some((name) => this.masker.text(name) !== name)) return this.elsewhere(value)
    return this.fields(value)
  }

  fields(object: JsonObject): JsonObject {
    const hidden = (name: string, value: JsonValue) => this.hides.has(name) && isFilled(value)
    const each = ([name, value]: [string, JsonValue]): [string, JsonValue] => [
      name,
      hidden(name, value) ? this.field(name, value) : this.json(value),
    ]
    return Object.fromEntries(Object.entries(object).map(each))
  }

  private field(name: string, value: JsonValue): JsonValue {
    // A form that a step asked with declares the field, and has no value of it.
    if (isJsonObject(value) && value.sensitive === true && typeof value.type === 'string') return this.inEach(value)
    return this.mark(name, typeof value === 'string' ? value : JSON.stringify(value))
  }

  text(text: string): string {
    if (this.masker.text(text) === text) return text
    const marked = this.known.reduce((all, [value, mark]) => all.replaceAll(value, mark), text)
    return this.masker.text(marked) === marked ? marked : this.elsewhere(text)
  }

  private elsewhere(value: JsonValue): string {
    const [, mark] = this.known.find(([text]) => text === String(value)) ?? []
    return mark ?? this.mark(MASK, JSON.stringify(value))
  }

  private mark(name: string, value: string): string {
    const place = { branch: '', stepId: '', visit: 0 }
    const same = createHash('sha256').update(value).digest('base64')
    return this.unknowns.makeNamed(`${name} ${same}`, { why: 'hidden', place })
  }
}

function isFilled(value: JsonValue): boolean {
  return value !== null && value !== ''
}
