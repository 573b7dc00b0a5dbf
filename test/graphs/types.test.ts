import { expect, test } from 'vitest'
import { expressionsOf } from '@/server/definition/expression/fields'
import { parseExpression } from '@/server/definition/expression/parse'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { lookupIn, UnresolvedReference } from '@/server/definition/template'
import { typeOfExpression } from '@/server/definition/types/of-expression'
import { conforms, NEVER } from '@/server/definition/types/type'
import { evaluateText } from '@/server/tools/expression'
import { claimsAt, misfitsOf } from '@/server/workflows/check/fits'
import { type Flow, flowOf } from '@/server/workflows/check/flow'
import { rounds } from '../support/rounds'
import { Dice } from './generate'
import { mixedGraph, randomExpression } from './mixed'
import { walkGraph } from './reference'

// The type flow's claims about random graphs, and what their runs find.

const SEED = Number(process.env.GRAPH_SEED ?? 1)
const PROBES = 6

/** The reference omits the messages of errors. */
function asStored(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(asStored)
  if (value === null || typeof value !== 'object') return value
  const inside = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asStored(item)]))
  return typeof value.code === 'string' && !('message' in value) ? { ...inside, message: '' } : inside
}

/** @returns the claims: that a name or an expression always has a value, or never */
function expectNames(flow: Flow, stepId: string, data: JsonObject, label: string): number {
  const read = flow.reads(stepId)
  const names = new Set([...flow.at(stepId).names(), ...Object.keys(data)])
  let claims = 0
  for (const name of names) {
    const { type, always } = read(name)
    const value = data[name]
    // The reference knows nothing of the outputs of steps.
    if (value === undefined && /^[sf]\d/.test(name)) continue
    if (always) claims++
    if (value === undefined) expect(always, `${name} at ${stepId} is always there: ${label}`).toBe(false)
    else expect(conforms(value, type), `${name} = ${JSON.stringify(value)} at ${stepId}: ${label}`).toBe(true)
  }
  return claims
}

/** The data of a run fits its own version wherever it stands. */
function expectFits(definition: Definition, flow: Flow, stepId: string, data: JsonObject, label: string): number {
  const claims = claimsAt(definition, flow, stepId).filter(
    ({ name }) => data[name] !== undefined || !/^[sf]\d/.test(name),
  )
  expect(misfitsOf(claims, lookupIn(data)), `at ${stepId} with ${JSON.stringify(data)}: ${label}`).toEqual([])
  return claims.length
}

function expectExpression(
  flow: Flow,
  stepId: string,
  text: string,
  data: JsonObject,
  label: string,
): 'always' | 'fails' | null {
  const { type, always, misfits } = typeOfExpression(parseExpression(text), flow.reads(stepId))
  const about = `${text} at ${stepId} with ${JSON.stringify(data)}: ${label}`
  const fails = type === NEVER || misfits.some(({ sure }) => sure)
  try {
    const value = evaluateText(text, lookupIn(data))
    expect(fails, `has a value: ${about}`).toBe(false)
    expect(conforms(value, type), `${JSON.stringify(value)} of ${about}`).toBe(true)
  } catch (err) {
    if (err instanceof UnresolvedReference) expect(always, `unresolved: ${about}`).toBe(false)
    else if (!(err instanceof Error && err.name === 'ExpressionFailure')) throw err
  }
  return fails ? 'fails' : always ? 'always' : null
}

test('no expression that always has a value is unresolved in a run, or of another type', () => {
  const total = rounds(150, 2_000)
  const claims = { names: 0, fits: 0, always: 0, fails: 0 }
  for (let at = 0; at < total; at++) {
    const seed = SEED * 1_000_003 + at
    const dice = new Dice(seed)
    const { graph, definition, outputs, input } = mixedGraph(dice)
    const whole = { name: '', description: '', ...definition } as unknown as Definition
    const flow = flowOf(whole, outputs)
    const label = `seed ${seed}: ${JSON.stringify(definition)}`
    let left = 400
    walkGraph(graph, input, (node, found) => {
      if (left-- < 0) return
      const data = asStored(found) as JsonObject
      claims.names += expectNames(flow, node.id, data, label)
      claims.fits += expectFits(whole, flow, node.id, data, label)
      const step = (definition.steps as JsonObject[]).find(({ id }) => id === node.id) ?? {}
      const texts = expressionsOf(step).map(({ text }) => text)
      for (let probe = 0; probe < PROBES; probe++) texts.push(randomExpression(dice))
      for (const text of texts) {
        const claim = expectExpression(flow, node.id, text, data, label)
        if (claim) claims[claim]++
      }
    })
  }
  // The claims are worth testing: a flow without claims would be sound.
  expect(claims.names).toBeGreaterThan(total * 10)
  expect(claims.fits).toBeGreaterThan(total * 5)
  expect(claims.always).toBeGreaterThan(total * 5)
  expect(claims.fails).toBeGreaterThan(total)
}, 600_000)
