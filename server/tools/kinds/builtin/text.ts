import { z } from 'zod'
import { AnyJson } from '../../../definition/any-json'
import type { JsonValue } from '../../../definition/json'
import { MAX_OUTPUT_BYTES } from '../../../definition/limits'
import {
  asText,
  fillText,
  lookupIn,
  TemplateMeter,
  TemplateSyntaxError,
  TemplateTooLarge,
  UnresolvedReference,
} from '../../../definition/template'
import { CannotDo, computing, need, refuseLarge } from './define'

const CASES = ['upper', 'lower', 'title', 'sentence', 'camel', 'snake', 'kebab'] as const

export const TextArgs = z.object({
  operation: z.enum(['template', 'replace', 'split', 'join', 'trim', 'case']),
  text: z.string().optional().describe('replace, split, trim, case: the text'),
  template: z
    .string()
    .max(100_000)
    .optional()
    .describe('template: text with ${name}; in a workflow step write $${name}, or the step resolves it'),
  values: z
    .union([z.record(z.string(), AnyJson), z.array(AnyJson)])
    .optional()
    .describe('template: the values of its names; ${_} is all of them, or a list'),
  search: z.string().min(1).optional().describe('replace: the text to replace, taken literally'),
  replacement: z.string().default('').describe('replace: the replacement'),
  all: z.boolean().default(true).describe('replace: every occurrence, or only the first'),
  separator: z.string().default(',').describe('split, join: the text between the items'),
  limit: z.number().int().min(1).max(100_000).default(100_000).describe('split: the maximum number of items'),
  items: z.array(AnyJson).optional().describe('join: the items'),
  side: z.enum(['both', 'start', 'end']).default('both').describe('trim: where'),
  to: z.enum(CASES).optional().describe('case: which'),
})

export const textTool = computing(TextArgs, (args) => {
  const text = () => need(args.text, 'text', args.operation)
  switch (args.operation) {
    case 'template':
      return fill(need(args.template, 'template', 'template'), args.values ?? {})
    case 'replace':
      return replace(text(), need(args.search, 'search', 'replace'), args.replacement, args.all)
    case 'split':
      return text().split(args.separator, args.limit)
    case 'join': {
      const items = need(args.items, 'items', 'join')
      let size = 0
      const texts = items.map((item) => {
        const text = asText(item)
        size += text.length + args.separator.length
        refuseLarge(size)
        return text
      })
      return texts.join(args.separator)
    }
    case 'trim':
      if (args.side === 'start') return text().trimStart()
      return args.side === 'end' ? text().trimEnd() : text().trim()
    case 'case':
      return changeCase(text(), need(args.to, 'to', 'case'))
  }
})

function fill(template: string, values: JsonValue): string {
  try {
    return fillText(template, lookupIn(values), new TemplateMeter(MAX_OUTPUT_BYTES))
  } catch (err) {
    if (err instanceof TemplateTooLarge) refuseLarge(Number.POSITIVE_INFINITY)
    if (err instanceof TemplateSyntaxError || err instanceof UnresolvedReference) throw new CannotDo(err.message)
    throw err
  }
}

function replace(text: string, search: string, replacement: string, all: boolean): string {
  const pieces = text.split(search)
  if (pieces.length === 1) return text
  if (!all) return `${pieces[0]}${replacement}${pieces.slice(1).join(search)}`
  refuseLarge(text.length + (pieces.length - 1) * (replacement.length - search.length))
  return pieces.join(replacement)
}

function changeCase(text: string, to: (typeof CASES)[number]): string {
  switch (to) {
    case 'upper':
      return text.toUpperCase()
    case 'lower':
      return text.toLowerCase()
    case 'title':
      return text.toLowerCase().replace(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu, capital)
    case 'sentence':
      return capital(text.toLowerCase())
    case 'camel':
      return words(text)
        .map((word, i) => (i === 0 ? word : capital(word)))
        .join('')
    case 'snake':
      return words(text).join('_')
    case 'kebab':
      return words(text).join('-')
  }
}

function capital(word: string): string {
  const [first = ''] = word
  return first.toUpperCase() + word.slice(first.length)
}

function words(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}
