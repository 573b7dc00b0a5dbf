import type { ApprovalQuestion } from '../definition/approval'
import { cutText, isJsonObject, type JsonObject, type JsonValue, jsonSize, own, typeName } from '../definition/json'
import { FIELD_TYPES, type Field, FieldName, type Fields, type FieldType } from '../definition/schema'
import type { Masker } from '../vault/mask'
import type { CallQuestion } from './journal/part-ends'
import type { AgentTool } from './toolset'

/** Larger arguments are only described, and cannot be changed. */
const MAX_ARGS_BYTES = 64 * 1024

/** The question about a call, whose arguments have the names that the tool's author gave them. */
export function questionAbout(
  id: string,
  tool: AgentTool,
  args: JsonObject,
  policy: ApprovalQuestion,
  masker: Masker,
): CallQuestion {
  const fits = jsonSize(args) <= MAX_ARGS_BYTES
  // A form would return the mask in place of the value.
  const isShown = (name: string) => {
    const given = { [name]: own(args, name) ?? null }
    return JSON.stringify(masker.json(given)) === JSON.stringify(given)
  }
  const schema = tool.kind === 'tool' ? tool.inputSchema : tool.parameters
  return {
    id,
    policy: masked(policy, masker),
    call: { toolId: tool.id, ...(tool.kind === 'tool' ? { version: tool.version } : {}), args: fits ? args : {} },
    fields: fits ? fieldsOf(policy.editable.filter(isShown), schema ?? {}, args) : {},
  }
}

/** The question as people read it, also in mails and messages: the model may have repeated what the run hides. */
function masked({ title, show, why, problem, ...rest }: ApprovalQuestion, masker: Masker): ApprovalQuestion {
  return {
    ...rest,
    ...{ title: masker.text(title), show: masker.json(show), why: masker.text(why) },
    ...(problem === undefined ? {} : { problem: masker.text(problem) }),
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
  return {
    type: typeOf(type, value),
    required: needed,
    ...(value === undefined ? {} : { default: value }),
    ...(typeof title === 'string' ? { label: title } : {}),
    ...(typeof description === 'string' ? { description: cutText(description, 2_000) } : {}),
    ...(Array.isArray(options) ? { options } : {}),
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(typeof maximum === 'number' ? { maximum } : {}),
  }
}

/** The type of a field: the one that the schema allows beside null, else that of the value. */
function typeOf(type: JsonValue | undefined, value: JsonValue | undefined): FieldType {
  const allowed = [type ?? []].flat().filter((one) => one !== 'null')
  const [only = value === undefined || value === null ? 'any' : typeName(value)] = allowed.length > 1 ? [] : allowed
  return FIELD_TYPES.find((one) => one !== 'file' && one === only) ?? 'any'
}
