import { Document, parseDocument, visit } from 'yaml'
import { isJsonObject, type JsonObject } from '@/server/definition/json'

/** Characters that YAML takes for the end of a line, or that no editor shows. */
const ODD = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\ufeff]/u

/** Long text becomes a block, so that a review shows its lines, unless a block could not give it back. */
export function toYaml(value: JsonObject): string {
  const text = written(value, isOdd)
  if (saysSame(text, value)) return text
  // Blocks lose blanks in some places, such as an empty first line.
  return written(value, (scalar) => isOdd(scalar) || !saysSame(written({ scalar }, isOdd), { scalar }))
}

const isOdd = (text: string) => ODD.test(text)

function written(value: JsonObject, isQuoted: (text: string) => boolean): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && isQuoted(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, blockQuote: 'literal' })
}

function saysSame(text: string, value: JsonObject): boolean {
  try {
    return JSON.stringify(fromYaml(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

/** @throws Error that says where the text is wrong */
export function fromYaml(text: string): JsonObject {
  const document = parseDocument(text, { prettyErrors: true })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Error(problem.message)
  const value: unknown = document.toJS()
  refuseOther(value, '')
  if (!isJsonObject(value)) throw new Error('It must contain names and values, such as `name: Order approval`.')
  return value
}

/** YAML can say more than JSON. */
function refuseOther(value: unknown, path: string): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) refuseOther(item, `${path}[${index}]`)
  } else if (value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [name, item] of Object.entries(value)) refuseOther(item, path === '' ? name : `${path}.${name}`)
  } else if (value !== null && !['string', 'boolean'].includes(typeof value) && !Number.isFinite(value))
    throw new Error(`${path} has a value that JSON does not have.`)
}
