import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Content } from '@ai-sdk/provider'
import { isJsonObject, type JsonObject, type JsonValue, toStorableJson } from '../definition/json'
import { parseKeepingDigits } from '../definition/long-numbers'
import { ModelFailure } from './failure'
import { fillSchema, type Material, TooMuchToMake } from './fill-schema'
import { HAND_OFF, isNameOfTool, meansTool } from './tool-names'

/**
 * A deterministic model stand-in without a key or network, so that samples and tests run offline. Its rules:
 * 1. A message `use <tool> {json}` calls that tool once, if the agent has it; without JSON, with no arguments. `<tool>`
 *    is its name, its name for models, or its id.
 * 2. Without such a message, an agent that can hand over hands the message to its first handoff agent, once.
 * 3. With a schema, it fills it from the message and the tool results: see `fillSchema`.
 * 4. Otherwise it repeats the last tool result. Without any, it says that it is no model, and describes its abilities.
 */
export function scriptedModel(): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted()
      const { content, finishReason, usage } = answer(options)
      return { content, finishReason, usage, warnings: [] }
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted()
      const { content, finishReason, usage } = answer(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] })
            for (const part of content) {
              if (part.type !== 'text') {
                if (part.type === 'tool-call') controller.enqueue(part)
                continue
              }
              controller.enqueue({ type: 'text-start', id: 'text' })
              for (const delta of part.text.match(/\S+\s*|\s+/g) ?? [])
                controller.enqueue({ type: 'text-delta', id: 'text', delta })
              controller.enqueue({ type: 'text-end', id: 'text' })
            }
            controller.enqueue({ type: 'finish', finishReason, usage })
            controller.close()
          },
        }),
      }
    },
  }
}

function answer(options: LanguageModelV3CallOptions) {
  const material = readPrompt(options)
  const call = options.toolChoice?.type === 'none' ? null : chooseTool(options, material)
  const text = call ? '' : speak(options, material)
  const content: LanguageModelV3Content[] = call ? [{ type: 'tool-call', ...call }] : [{ type: 'text', text }]
  const input = Math.ceil(JSON.stringify(options.prompt, withoutBytes).length / 4)
  const output = Math.ceil((call ? call.input.length : text.length) / 4)
  return {
    content,
    finishReason: { unified: call ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
    // Nothing is billed; a quarter of the characters is a typical number of tokens.
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  }
}

function withoutBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? '' : value
}

interface Turn extends Material {
  /** The names of the files with the message, which it cannot read. */
  files: string[]
  /** Tool results since the user's last message. */
  calls: number
}

/** The user's last message and the tool results after it. */
function readPrompt({ prompt }: LanguageModelV3CallOptions): Turn {
  const start = prompt.findLastIndex((message) => message.role === 'user')
  const user = prompt[start]
  const first = user?.role === 'user' ? user.content.find((part) => part.type === 'text') : undefined
  const parts = prompt.slice(start + 1).flatMap((message) => (message.role === 'tool' ? message.content : []))
  const results = parts.flatMap((part): JsonValue[] => {
    if (part.type !== 'tool-result') return []
    const { output } = part
    if (output.type === 'json') return [unwrap(toStorableJson(output.value))]
    return output.type === 'text' || output.type === 'error-text' ? [output.value] : []
  })
  const sent = user?.role === 'user' ? user.content.filter((part) => part.type === 'file') : []
  const files = sent.map(({ filename }) => filename ?? 'a file')
  return { message: first?.text.trim() ?? '', results, calls: parts.length, files }
}

/** The data of an agent that was handed a message, or of a call whose arguments a person changed. */
function unwrap(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  if (isJsonObject(value.data)) return value.data
  return typeof value.note === 'string' && isJsonObject(value.result) ? value.result : value
}

function chooseTool(options: LanguageModelV3CallOptions, turn: Turn) {
  const tools = (options.tools ?? []).filter((tool) => tool.type === 'function')
  if (turn.calls > 0 || tools.length === 0) return null
  const [named, rest] = namedTool(turn.message, tools)
  const call = (toolName: string, input: JsonObject) => ({
    toolCallId: `call_${toolName}`,
    toolName,
    input: JSON.stringify(input),
  })
  if (named) return call(named.name, leadingObject(rest))
  const handOff = tools.find(({ name }) => name.startsWith(HAND_OFF))
  return handOff ? call(handOff.name, { message: turn.message }) : null
}

/** The tool that a message says to use, and what comes after its name. */
function namedTool<T extends { name: string }>(message: string, tools: readonly T[]): [T | undefined, string] {
  const after = (found: RegExpExecArray) => message.slice(found.index + found[0].length)
  const word = /\buse\s+([\w-]{1,100})\s*/i.exec(message)
  const meant = word && tools.find(({ name }) => meansTool(word[1] ?? '', name))
  if (meant) return [meant, after(word)]
  const words = /\buse\s+([^{\n]{1,200})/i.exec(message)
  const named = words ? tools.find(({ name }) => isNameOfTool(words[1] ?? '', name)) : undefined
  return named && words ? [named, after(words)] : [undefined, '']
}

/** The JSON object at the start of a text, or an empty one. */
function leadingObject(text: string): JsonObject {
  if (!text.startsWith('{')) return {}
  for (let end = text.indexOf('}'); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      const value = parseKeepingDigits(text.slice(0, end + 1))
      return isJsonObject(value) ? value : {}
    } catch {
      // That brace was nested; try the next one.
    }
    if (end > 20_000) break
  }
  return {}
}

function speak(options: LanguageModelV3CallOptions, turn: Turn): string {
  const format = options.responseFormat
  if (format?.type === 'json') return filled(format.schema ?? {}, turn)
  const last = turn.results.at(-1)
  if (last !== undefined) return typeof last === 'string' ? last : answerText(last)
  const [tool] = (options.tools ?? []).filter(({ type, name }) => type === 'function' && !name.startsWith(HAND_OFF))
  return [
    'I am the built-in offline model: I follow fixed rules and understand nothing.',
    turn.message === '' ? 'There was no message.' : `You wrote: ${turn.message}`,
    turn.files.length === 0 ? '' : `I cannot read the files that came with it: ${turn.files.join(', ')}`,
    tool ? `To see a tool called, write: use ${tool.name} {}` : '',
    'For real answers, choose a provider and a model for this agent.',
  ]
    .filter(Boolean)
    .join('\n\n')
}

function filled(schema: JsonObject, turn: Turn): string {
  try {
    return JSON.stringify(fillSchema(schema, turn))
  } catch (err) {
    if (!(err instanceof TooMuchToMake)) throw err
    throw new ModelFailure('scripted', 'makes at most 20,000 values, and the output schema asks for more')
  }
}

/** Data as readable lines. */
function answerText(value: JsonValue): string {
  if (!isJsonObject(value)) return JSON.stringify(value)
  const lines = Object.entries(value).map(
    ([name, one]) => `${name}: ${typeof one === 'string' ? one : JSON.stringify(one)}`,
  )
  return ['The offline model found this, by fixed rules:', ...lines].join('\n')
}
