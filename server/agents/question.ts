import type { ApprovalQuestion } from '../definition/approval'
import { cutText, isJsonObject, type JsonObject, type JsonValue, jsonSize, own } from '../definition/json'
import { FIELD_TYPES, type Field, FieldName, type Fields, type FieldType } from '../definition/schema'
import type { Masker } from '../vault/mask'
import type { AskedQuestion } from './journal/part-ends'
import type { AgentTool } from './toolset'

/** Larger arguments are only described, and cannot be changed. */
const MAX_ARGS_BYTES = 64 * 1024

/** The question about a call, whose arguments have the names that the tool's author gave them. */
export function questionAbout(
  seq: number,
  tool: AgentTool,
  args: JsonObject,
  policy: ApprovalQuestion,
  { masker, hides }: { masker: Masker; hides: ReadonlySet<string> },
): AskedQuestion {
  const fits = jsonSize(args) <= MAX_ARGS_BYTES
  // A form would return the mask in place of a secret.
  const isShown = (name: string) => {
    const value = own(args, name) ?? null
    return !hides.has(name) && JSON.stringify(masker.json(value)) === JSON.stringify(value)
  }
  const schema = tool.kind === 'tool' ? tool.inputSchema : tool.parameters
  return {
    seq,
    policy,
    call: { toolId: tool.id, ...(tool.kind === 'tool' ? { version: tool.version } : {}), args: fits ? args : {} },
    fields: fits ? fieldsOf(policy.editable.filter(isShown), schema ?? {}, args) : {},
  }
}

/** The form of the arguments that may be changed. The schema of the tool is checked once they are. */
function fieldsOf(editable: readonly string[], schema: JsonObject, args: JsonObject): Fields {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const needed = Array.isArray(schema.required) ? schema.required : []
  const named = editable.filter((name) => FieldName.safeParse(name).success)
  return Object.fromEntries(
    named.map((name) => [name, fieldOf(own(properties, name), own(args, name), needed.includes(name))]),
  )
}

function fieldOf(property: JsonValue | undefined, value: JsonValue | undefined, needed: boolean): Field {
  const { type, title, description, enum: options, minimum, maximum } = isJsonObject(property) ? property : {}
  const isType = (given: unknown): given is FieldType => FIELD_TYPES.some((one) => one !== 'file' && one === given)
  return {
    type: isType(type) ? type : 'any',
    required: needed,
    ...(value === undefined ? {} : { default: value }),
    ...(typeof title === 'string' ? { label: title } : {}),
    ...(typeof description === 'string' ? { description: cutText(description, 2_000) } : {}),
    ...(Array.isArray(options) ? { options } : {}),
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(typeof maximum === 'number' ? { maximum } : {}),
  }
}
