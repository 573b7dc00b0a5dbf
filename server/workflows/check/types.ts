import { beginsBranch } from '../../definition/exits'
import { type Expression, parseExpression } from '../../definition/expression/parse'
import type { JsonLike } from '../../definition/json'
import type { Definition, Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { TemplateSyntaxError } from '../../definition/template'
import type { TransferFunctions, TypesHere, Writes } from '../../definition/types/flow'
import { readingAt } from '../../definition/types/flow'
import { typeOfExpression } from '../../definition/types/of-expression'
import { ofFieldType, propertiesOf } from '../../definition/types/of-fields'
import { typeOfTemplate } from '../../definition/types/of-template'
import type { ReadName } from '../../definition/types/read'
import {
  ANY,
  has,
  join,
  joinAll,
  KIND,
  type Kind,
  objectOf,
  ofKind,
  only,
  type Property,
  type ValueType,
  without,
} from '../../definition/types/type'
import type { AnyStep, StepTypes } from '../../steps/define-step'
import type { DefinedField } from '../../steps/form'

/** A step whose configuration its type can parse. */
export interface ReadStep {
  type: AnyStep
  config: StepConfig
}

/** The types of the fields a run starts with. */
export function typesAtStart({ payload }: Definition): Map<string, ValueType> {
  const types = new Map([...propertiesOf(payload)].map(([name, { type }]) => [name, type]))
  // Set by a multipart start, whatever is declared.
  return types.set('fileId', join(ofKind('string'), types.get('fileId') ?? ofKind('string')))
}

/**
 * The effects of a definition's steps on types.
 * @param outputs known by schema
 * @param always whether a name has a value at the start of a step
 */
export function transferFunctionsOf(
  steps: readonly Step[],
  read: readonly (ReadStep | null)[],
  outputs: ReadonlyMap<string, ValueType>,
  always: (at: number, name: string) => boolean,
): TransferFunctions {
  const parsed = new Map<string, Expression | null>()
  /** The result of its own rule; null if the type has none. */
  const ruled = (at: number, here: TypesHere, ends: readonly TypesHere[]): StepTypes | null => {
    const { type, config } = read[at] ?? {}
    if (!type?.types || !config) return null
    const name = readingAt(here, (root) => always(at, root))
    const last = ends.map((end) => readingAt(end, () => false))
    return type.types({
      config,
      stepId: steps[at]?.id ?? '',
      template: (value) => typeOfTemplate(value, name),
      expression: (text) => typeOfText(text, name, parsed),
      collected: (value: JsonLike) => joinAll(last.map((end) => typeOfTemplate(value, end))),
    })
  }
  return {
    writes(at, here, ends) {
      const step = steps[at]
      const { type, config } = read[at] ?? {}
      if (!step || !type || !config) return UNKNOWN
      const output = outputs.get(step.id)
      if (output) return ofOutput(step, output)
      const rule = ruled(at, here, ends)
      const defined = type.defines?.(config, step.id)
      return {
        data: rule?.fields ?? (defined ? propertiesIn(defined.fields) : NO_FIELDS),
        open: defined?.open ?? type.mode !== 'end',
        output: rule?.output ?? (defined?.output ? ofDefined(defined.output) : ofKind('object')),
      }
    },
    begins(at, exit, here) {
      const { type } = read[at] ?? {}
      if (!type || !beginsBranch(type.exits, exit)) return null
      const given = new Map(Object.entries(type.gives?.[exit] ?? {}).map(([name, field]) => [name, ofDefined(field)]))
      for (const [name, found] of Object.entries(ruled(at, here, [])?.gives?.[exit] ?? {})) given.set(name, found)
      return given
    },
  }
}

const NO_FIELDS: ReadonlyMap<string, Property> = new Map()
const UNKNOWN: Writes = { data: NO_FIELDS, open: true, output: ANY }

function typeOfText(text: string, read: ReadName, parsed: Map<string, Expression | null>): ValueType {
  const known = parsed.get(text)
  const expression = known === undefined ? parse(text) : known
  parsed.set(text, expression)
  return expression ? typeOfExpression(expression, read).type : ANY
}

function parse(text: string): Expression | null {
  try {
    return parseExpression(text)
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return null
    throw error
  }
}

/** Mirrors how `deltaOf` and `objectOf` of the interpreter store an output. */
export function ofOutput(step: Step, output: ValueType): Writes {
  const saveAs = typeof step.saveAs === 'string' ? step.saveAs : null
  const [object, other] = [only(output, KIND.object), without(output, KIND.object)]
  const wrapped = objectOf(new Map([[saveAs ?? step.id, { type: other, always: true }]]), false)
  const stored = other.kinds === 0 ? object : join(object, wrapped)
  if (saveAs !== null) return { data: new Map([[saveAs, { type: output, always: true }]]), open: false, output: stored }
  const data = new Map(object.kinds === 0 ? [] : object.props)
  if (other.kinds !== 0) {
    for (const [name, { type }] of data) data.set(name, { type, always: false })
    data.set(step.id, { type: join(other, data.get(step.id)?.type ?? other), always: object.kinds === 0 })
  }
  return { data, open: object.kinds !== 0 && object.open, output: stored }
}

function propertiesIn(fields: Record<string, DefinedField>): Map<string, Property> {
  return new Map(
    Object.entries(fields).map(([name, field]) => [name, { type: ofDefined(field), always: field.optional !== true }]),
  )
}

/** A type in the form of a declared field, as precisely as that form allows. */
export function definedAs(type: ValueType, depth = 0): DefinedField {
  const found = (Object.keys(KIND) as Kind[]).filter((kind) => kind !== 'null' && has(type, kind))
  const [only = 'null'] = found
  if (found.length !== 1 || only === 'null') return { type: 'any' }
  const properties = [...type.props].map(([name, { type: inner, always }]) => {
    return [name, { ...definedAs(inner, depth + 1), ...(always ? {} : { optional: true }) }] as const
  })
  return {
    type: only,
    ...(properties.length > 0 && depth < MAX_DEEP ? { properties: Object.fromEntries(properties) } : {}),
  }
}

/** The depth to which properties are listed. */
const MAX_DEEP = 3

export function ofDefined({ type, nullable, properties }: DefinedField): ValueType {
  const known = properties ? objectOf(propertiesIn(properties), false) : ofFieldType(type)
  return nullable ? join(known, ofKind('null')) : known
}
