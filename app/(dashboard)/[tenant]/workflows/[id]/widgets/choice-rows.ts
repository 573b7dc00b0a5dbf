import { RESERVED_EXITS } from '@/server/definition/exits'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isObject } from '../model/json-text'
import type { Row } from './use-rows'

/** An entry of a list that makes exits: an action of a decision, a case of a switch, a branch. */
export interface Choice {
  /** As typed. */
  id: string
  /** The last id that could be stored: edges belong to it while the next one is being typed. */
  kept: string
  label: string
  /** The id follows the label until the user changes it. */
  follows: boolean
  /** The entry's other properties. */
  rest: JsonObject
}

export function choicesOf(value: JsonValue): Choice[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item) => {
    if (!isObject(item)) return []
    const { id, label, ...rest } = item
    const [known, text] = [typeof id === 'string' ? id : '', typeof label === 'string' ? label : '']
    const follows = known === '' || idFor(text) === known || (text === '' && /^(case|branch)_\d+$/.test(known))
    return [{ id: known, kept: known, label: text, follows, rest }]
  })
}

export function writtenChoices(rows: readonly Choice[]): JsonObject[] {
  return rows.map(({ kept, label, rest }) => ({
    id: kept,
    ...(label === '' && rest.when !== undefined ? {} : { label }),
    ...rest,
  }))
}

/** An id derived from a label, never that of another exit: it would take over the entry's own exit and edge. */
export function idFor(label: string): string {
  const id = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  return RESERVED_EXITS.includes(id) ? `${id}_` : id
}

/** The rows after the user typed a row's label or id. */
export function changeChoice(
  rows: readonly Row<Choice>[],
  key: number,
  part: Partial<Pick<Choice, 'id' | 'label' | 'rest'>>,
  problemOf: (id: string) => string | null,
): Row<Choice>[] {
  return rows.map((row) => {
    if (row.key !== key) return row
    const follows = part.id === undefined ? row.follows : part.id === '' || part.id === idFor(row.label)
    const made = part.label !== undefined && row.follows ? idFor(part.label) : undefined
    // A label that makes no usable id leaves the id unchanged.
    const free = made !== undefined && choiceProblem(rows, key, made, problemOf) === null && made !== ''
    const id = part.id ?? (free ? made : row.id)
    const kept = choiceProblem(rows, key, id, problemOf) === null && id !== '' ? id : row.kept
    return { ...row, ...part, id, kept, follows }
  })
}

/** Why a row cannot have an id, or null. */
export function choiceProblem(
  rows: readonly Row<Choice>[],
  key: number,
  id: string,
  problemOf: (id: string) => string | null,
): string | null {
  if (id === '') return null
  if (rows.some((row) => row.key !== key && (row.id === id || row.kept === id))) return 'Another one has this id'
  // An action may have had such an id before the editor rejected it.
  if (RESERVED_EXITS.includes(id) && !rows.some((row) => row.key === key && row.kept === id)) return reservedProblem(id)
  return problemOf(id)
}

/** Ids of cases are names, and none may be that of another exit. */
export function caseProblem(id: string): string | null {
  if (RESERVED_EXITS.includes(id)) return reservedProblem(id)
  return /^[A-Za-z_][\w-]{0,99}$/.test(id) ? null : 'Start with a letter or _, then use only letters, digits, _ and -'
}

function reservedProblem(id: string): string {
  return `${id} is the name of another exit`
}

/** The ids of actions have always been free; only typing a reserved one anew is rejected. */
export function actionProblem(id: string): string | null {
  return id.length > 100 ? 'Use 100 characters or fewer' : null
}
