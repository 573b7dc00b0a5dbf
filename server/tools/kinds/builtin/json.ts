import { z } from 'zod'
import { AnyJson } from '../../../definition/any-json'
import type { JsonValue } from '../../../definition/json'
import {
  lookupIn,
  parseTemplate,
  resolveTemplates,
  TemplateTooLarge,
  UnresolvedReference,
} from '../../../definition/template'
import { AppError } from '../../../errors'
import { parseJson } from '../../../http/parse-json'
import { pathTemplate } from '../http-config'
import { CannotDo, computing, need, refuseLarge } from './define'

export const JsonArgs = z.object({
  operation: z.enum(['parse', 'stringify', 'get']),
  text: z.string().optional().describe('parse, get: JSON text'),
  value: AnyJson.optional().describe('stringify, get: any JSON value'),
  path: z.string().min(1).max(500).optional().describe('get: path of the part, such as items[0].id'),
  default: AnyJson.optional().describe('get: the result if there is nothing at the path'),
  indent: z.number().int().min(0).max(8).default(0).describe('stringify: spaces per level'),
})

export const jsonTool = computing(JsonArgs, (args) => {
  switch (args.operation) {
    case 'parse':
      return parse(need(args.text, 'text', 'parse'))
    case 'stringify': {
      const value = need(args.value, 'value', 'stringify')
      const text = JSON.stringify(value)
      if (args.indent === 0) return text
      refuseLarge(indentedSize(text, args.indent))
      return JSON.stringify(value, null, args.indent)
    }
    case 'get': {
      const value = args.value === undefined ? parse(need(args.text, 'value or text', 'get')) : args.value
      return pick(value, need(args.path, 'path', 'get'), args.default)
    }
  }
})

/** The length of JSON after indentation, which multiplies the size of deeply nested values. */
function indentedSize(text: string, indent: number): number {
  let size = text.length
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
      continue
    }
    if (char === '"') inString = true
    else if (char === '[' || char === '{') size += 1 + ++depth * indent
    else if (char === ']' || char === '}') size += 1 + --depth * indent
    else if (char === ',') size += 1 + depth * indent
    else if (char === ':') size++
  }
  return size
}

function parse(text: string): JsonValue {
  try {
    return parseJson(text, 'The text', undefined, { foreign: true })
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    throw new CannotDo(err.details[0]?.message ?? err.message)
  }
}

function pick(value: JsonValue, path: string, fallback: JsonValue | undefined): JsonValue {
  const template = pathTemplate(path)
  if (/[{}?]/.test(path) || !isTemplate(template)) throw new CannotDo(`${path} is not a path such as items[0].id.`)
  try {
    return resolveTemplates(template, lookupIn(value))
  } catch (err) {
    if (err instanceof TemplateTooLarge) refuseLarge(Number.POSITIVE_INFINITY)
    if (!(err instanceof UnresolvedReference)) throw err
    if (fallback !== undefined) return fallback
    throw new CannotDo(`The value has no ${path}.`)
  }
}

function isTemplate(text: string): boolean {
  try {
    return parseTemplate(text).length === 1
  } catch {
    return false
  }
}
