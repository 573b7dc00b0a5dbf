import { Document, parseDocument, visit } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'

/** Characters that YAML reads as line breaks, or that no editor shows. */
const ODD = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\ufeff]/u

/** Long text becomes a block, so that a review shows its lines, unless a block could not represent it exactly. */
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

/** @throws Error that names the place of the mistake */
export function fromYaml(text: string): JsonObject {
  const document = parseDocument(text, { prettyErrors: true, version: '1.2', intAsBigInt: true })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Error(problem.message)
  const { explicit, version } = document.directives?.yaml ?? {}
  if (explicit && version !== '1.2')
    throw new Error(`It must be YAML 1.2: \`%YAML ${version}\` gives words another meaning.`)
  const value = inJson(document.toJS(), '')
  if (!isJsonObject(value)) throw new Error('It must contain names and values, such as `name: Order approval`.')
  return value
}

/** YAML can express more than JSON. */
function inJson(value: unknown, path: string): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return inDouble(value, path)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((item, index) => inJson(item, `${path}[${index}]`))
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    const at = (name: string) => (path === '' ? name : `${path}.${name}`)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, inJson(item, at(name))]))
  }
  throw new Error(`${path} has a value that JSON does not have.`)
}

/** Beyond 2^53, most whole numbers would become a neighbour; those that survive unchanged are fine. */
function inDouble(value: bigint, path: string): number {
  const number = Number(value)
  if (String(number) === String(value)) return number
  throw new Error(`${path} is ${value}, which would be changed to ${number}. Put numbers of this length in quotes.`)
}
