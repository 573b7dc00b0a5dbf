import type { JsonObject, JsonValue } from '@/server/definition/json'
import { isSamePlace, type Place } from '@/server/definition/verdict'
import type { WhatIf } from '@/server/runs/what-if/schema'
import { readJson } from '../../../workflows/[id]/model/json-text'

export type Came = NonNullable<NonNullable<NonNullable<WhatIf['changes']>['came']>[number]>['came']

/** What a person changed about a run. */
export interface Changes {
  input: JsonObject
  data: { before: Place; fields: JsonObject }[]
  came: { at: Place; came: Came }[]
}

export const NO_CHANGES: Changes = { input: {}, data: [], came: [] }

export function cameAt({ came }: Changes, place: Place): Came | null {
  return came.find(({ at }) => isSamePlace(at, place))?.came ?? null
}

/** @param came null to take what the run recorded again */
export function withCame(changes: Changes, at: Place, came: Came | null): Changes {
  const others = changes.came.filter((one) => !isSamePlace(one.at, at))
  return { ...changes, came: came === null ? others : [...others, { at, came }] }
}

export function fieldsBefore({ data }: Changes, place: Place): JsonObject {
  return data.find(({ before }) => isSamePlace(before, place))?.fields ?? {}
}

export function withFields(changes: Changes, before: Place, fields: JsonObject): Changes {
  const others = changes.data.filter((one) => !isSamePlace(one.before, before))
  return { ...changes, data: Object.keys(fields).length === 0 ? others : [...others, { before, fields }] }
}

export function without(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))
}

export function countOf({ input, data, came }: Changes): number {
  return Object.keys(input).length + came.length + data.reduce((sum, { fields }) => sum + Object.keys(fields).length, 0)
}

/** JSON, or a text. */
export function typedValue(text: string): JsonValue {
  const read = readJson(text)
  return 'value' in read ? read.value : text
}
