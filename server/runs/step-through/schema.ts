import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { MAX_PLACE } from '../../definition/branches'
import { StepRef } from '../../definition/step-ref'

/** More visits are not followed at each step. */
export const MAX_VISITS = 5_000
/** The size of everything that the browser sends. */
export const MAX_BYTES = 1024 * 1024

const Text = z.string().max(MAX_PLACE)
const Words = z.string().max(10_000)
const Data = z.record(z.string(), AnyJson)

/** A visit that a person names. */
export const TypedPlace = z.object({
  branch: Text,
  stepId: StepRef,
  visit: z.number().int().min(1),
})

const Answer = z.union([
  z.object({ actionId: z.string().max(200), data: Data.optional(), remark: Words.optional() }),
  z.object({ event: Data, key: z.string().max(200).optional() }),
  z.object({ data: Data }),
])

/** What came of a visit, as a person says. */
export const TypedCame = z.union([
  z.object({ output: AnyJson }),
  z.object({ failed: z.object({ code: z.string().min(1).max(100), message: Words }) }),
  z.object({ answer: Answer }),
])

/** What a person has said so far about a draft that they step through. It only shapes the answer to themselves. */
export const StepThrough = z.object({
  version: z.number(),
  /** The fields of START. */
  input: Data.default({}),
  /** What came of visits; the others are computed, or asked for. */
  facts: z
    .array(TypedPlace.extend({ came: TypedCame }))
    .max(MAX_VISITS)
    .default([]),
  /** Fields that are changed before a visit. */
  changes: z
    .array(z.object({ before: TypedPlace, fields: Data }))
    .max(500)
    .default([]),
  /** Branches that are left out. */
  skips: z
    .array(z.object({ scope: Text, from: Text, to: Text.nullable() }))
    .max(500)
    .default([]),
  /** How many visits to pass without stopping. */
  passed: z.number().int().min(0).max(MAX_VISITS).default(0),
  /** Then stop before each visit, or only before those of these steps. */
  stop: z.union([z.literal('each'), z.array(StepRef).max(1_000)]).default('each'),
})
export type StepThrough = z.input<typeof StepThrough>
