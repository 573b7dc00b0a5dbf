import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Place } from '@/server/definition/verdict'
import type { WhatIf } from '@/server/runs/what-if/schema'

export type Came = NonNullable<NonNullable<NonNullable<WhatIf['changes']>['came']>[number]>['came']

/** What a person changed about a run. */
export interface Changes {
  input: JsonObject
  data: { before: Place; fields: JsonObject }[]
  came: { at: Place; came: Came }[]
}

export const NO_CHANGES: Changes = { input: {}, data: [], came: [] }

const same = (a: Place, b: Place) => a.branch === b.branch && a.stepId === b.stepId && a.visit === b.visit

export function cameAt({ came }: Changes, place: Place): Came | null {
  return came.find(({ at }) => same(at, place))?.came ?? null
}

/** @param came null to take what the run recorded again */
export function withCame(changes: Changes, at: Place, came: Came | null): Changes {
  const others = changes.came.filter((one) => !same(one.at, at))
  return { ...changes, came: came === null ? others : [...others, { at, came }] }
}

export function fieldsBefore({ data }: Changes, place: Place): JsonObject {
  return data.find(({ before }) => same(before, place))?.fields ?? {}
}

export function withFields(changes: Changes, before: Place, fields: JsonObject): Changes {
  const others = changes.data.filter((one) => !same(one.before, before))
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
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** @returns undefined if it is no JSON */
export function jsonIn(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
